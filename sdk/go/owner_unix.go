//go:build unix

package covey

import (
	"io/fs"
	"syscall"
)

// ownedBy reports whether a file belongs to a user.
func ownedBy(found fs.FileInfo, uid int) bool {
	status, ok := found.Sys().(*syscall.Stat_t)
	return !ok || int(status.Uid) == uid
}
