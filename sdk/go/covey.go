// Package covey talks to Covey's daemons on this machine: to the node, and to the peers of meshes.
//
//	mesh, err := covey.Connect()                    // the mesh of the current folder
//	_, err = mesh.Send(ctx, "@oncall", "disk full on db-3")
//	for event, err := range mesh.Events(ctx, nil) { // from now on, over reconnects and restarts
//
// Every call that changes something carries an idempotency key, which its retries keep: it is performed at most once.
// The calls are generated from Covey's contract; a call ends when its context does, or after a minute without a
// deadline.
package covey

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	callLimit = time.Minute
	patience  = 30 * time.Second // how long a call waits for a daemon that has gone
	silence   = time.Minute      // the longest silence of a stream, which has heartbeats
)

var pauses = []time.Duration{50, 100, 250, 500, 1000} // milliseconds between attempts; the last one repeats

// Error is what a daemon refused or could not do. Name is the code to compare with, Suggestion what to do about it.
// Without an answer of a daemon it is one of daemon_not_running, connection_lost, timeout, bad_answer and user_error.
type Error struct {
	Code         int      `json:"code"` // 1 arguments, 2 failed, 3 in part, 4 late, 5 not found, 6 not allowed, 7 conflict, 8 too much, 9 stopped
	Name         string   `json:"error"`
	Message      string   `json:"message"`
	Suggestion   string   `json:"suggestion"`
	Field        string   `json:"field"`
	ValidValues  []string `json:"valid_values"`
	Recoverable  bool     `json:"recoverable"`
	RetryAfterMS int64    `json:"retry_after_ms"`
	Status       int      `json:"-"` // the HTTP status; 0 if no daemon has answered
}

func (e *Error) Error() string { return strings.TrimSpace(e.Message + "\n" + e.Suggestion) }

// IsError reports whether err is an Error of that name, such as not_found.
func IsError(err error, name string) bool {
	var found *Error
	return errors.As(err, &found) && found.Name == name
}

// Event is an event of a daemon's journal. Kinds that begin with covey. are about the stream itself: covey.gap says that
// events were asked for that are no longer kept, covey.reset that the journal has begun anew and all that is kept follows.
type Event struct {
	Kind    string          `json:"kind"`
	Data    json.RawMessage `json:"data"`
	Cursor  int64           `json:"cursor"`
	Subject string          `json:"subject"`
	ID      string          `json:"id"`
	At      string          `json:"at"`
}

// EventsOptions say which events are wanted: after a cursor, else after a time such as 2026-01-31T14:05:00Z, else from
// now on; of all kinds, or of some, such as message or agent.*.
type EventsOptions struct {
	After *int64
	Since string
	Kinds []string
}

// WithKey returns a context whose next call has this idempotency key instead of one of its own: 1 to 200 printable ASCII
// characters without spaces.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfCall{}, key)
}

type keyOfCall struct{}

// Opt returns a pointer to a value, for the fields of options.
func Opt[T any](value T) *T { return &value }

type client struct {
	address func() (address, error)
	http    *http.Client
	known   atomic.Bool // whether there was a connection: only then is a daemon that does not run waited for
	open    context.Context
	end     context.CancelFunc
}

type address struct{ path, port, token, title, command string }

// ConnectNode returns the node of this user. Home is Covey's home, else COVEY_HOME or ~/.covey. It asks nothing yet.
func ConnectNode(home string) (*Node, error) {
	found, err := connect(func() (address, error) {
		return locate(address{title: "the Covey daemon", command: "covey up"}, folderOf(home), "node")
	})
	if err != nil {
		return nil, err
	}
	return &Node{NodeCalls{found}}, nil
}

// Connect returns the peer of the mesh of the current folder.
func Connect() (*Mesh, error) { return ConnectMesh("", "") }

// ConnectMesh returns the peer of a mesh: the one of this slug, or that COVEY_MESH names, or whose file
// mesh/<slug>/folders lists the current folder or one above it, or the only one that was joined.
func ConnectMesh(slug, home string) (*Mesh, error) {
	found, err := connect(func() (address, error) { return locateMesh(slug, folderOf(home)) })
	if err != nil {
		return nil, err
	}
	return &Mesh{MeshCalls{found}}, nil
}

// Node is the node of this user: agents and their states, sends with receipts, approvals, beats, meshes.
type Node struct{ NodeCalls }

// Mesh is the peer of one mesh: messages, topics, members, shared values.
type Mesh struct{ MeshCalls }

// Close closes all connections. Calls under way, and further ones, end with connection_lost.
func (c *client) Close() {
	if c != nil {
		c.end()
		c.http.CloseIdleConnections()
	}
}

// usable returns an error for the zero value of Node and Mesh, and after Close.
func (c *client) usable() error {
	if c == nil {
		return &Error{Code: 1, Name: "user_error", Message: "it is not connected: use ConnectNode or ConnectMesh"}
	}
	if c.open.Err() != nil {
		return &Error{Code: 2, Name: "connection_lost", Message: "the connection was closed here"}
	}
	return nil
}

// Cursor returns the cursor of the newest event.
func (c *client) Cursor(ctx context.Context) (int64, error) {
	var found struct{ Events struct{ Cursor int64 } }
	err := c.call(ctx, "GET", "/v1/status", nil, false, &found)
	return found.Events.Cursor, err
}

// Events yields what happens. Nothing is missed or repeated over reconnects and restarts of the daemon. It ends with an
// error, or when the context does, with that error.
func (c *client) Events(ctx context.Context, options *EventsOptions) iter.Seq2[Event, error] {
	if options == nil {
		options = &EventsOptions{}
	}
	return func(yield func(Event, error) bool) {
		after, params := options.After, map[string]any{"kind": options.Kinds}
		if after == nil && options.Since != "" {
			params["since"] = options.Since
		} else if after == nil {
			now, err := c.Cursor(ctx)
			if err != nil {
				yield(Event{}, err)
				return
			}
			after = &now
		}
		for one, err := range c.stream(ctx, "/v1/events", params, after) {
			var event Event
			if err == nil && strings.HasPrefix(one.name, "covey.") {
				event = Event{Kind: one.name, Data: one.data, Cursor: one.cursor}
			} else if err == nil {
				err = decode(one.data, &event)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

func connect(find func() (address, error)) (*client, error) {
	made := &client{address: find}
	made.open, made.end = context.WithCancel(context.Background())
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		at, err := find()
		if err != nil {
			return nil, err
		}
		if at.path != "" {
			return (&net.Dialer{}).DialContext(ctx, "unix", at.path)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+at.port)
	}
	made.http = &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 8, IdleConnTimeout: silence}}
	_, err := find()
	return made, err
}

func folderOf(home string) string {
	if home == "" {
		home = os.Getenv("COVEY_HOME")
	}
	user, _ := os.UserHomeDir()
	if home == "" {
		home = filepath.Join(user, ".covey")
	} else if home == "~" || strings.HasPrefix(home, "~/") {
		home = filepath.Join(user, home[1:])
	}
	whole, err := filepath.Abs(home)
	if err != nil {
		return home
	}
	return whole
}

func locateMesh(slug, home string) (address, error) {
	var names []string
	best, depth := "", 0
	here := currentFolder()
	found, _ := filepath.Glob(filepath.Join(home, "mesh", "*", "membership.json"))
	for _, path := range found {
		name := filepath.Base(filepath.Dir(path))
		if !nameOfMesh.MatchString(name) {
			continue
		}
		names = append(names, name)
		for _, line := range strings.Split(strings.TrimPrefix(textOf(filepath.Join(filepath.Dir(path), "folders")), "\ufeff"), "\n") {
			folder := listedFolder(strings.Trim(strings.TrimSuffix(line, "\r"), " \t"))
			if folder != "" && strings.HasPrefix(here, folder) && len(folder) > depth {
				best, depth = name, len(folder)
			}
		}
	}
	wanted := slug
	for _, other := range []string{os.Getenv("COVEY_MESH"), best} {
		if wanted == "" {
			wanted = other
		}
	}
	if wanted == "" && len(names) == 1 {
		wanted = names[0]
	}
	for _, name := range names {
		if name != wanted {
			continue
		}
		about := address{title: "the peer of mesh " + name, command: "covey mesh up " + name}
		if of := os.Getenv("COVEY_MESH"); of == "" || of == name {
			about.token = os.Getenv("COVEY_MESH_TOKEN") // a hook shows what it was given: it may do no more
		}
		if about.token != "" && !printable.MatchString(about.token) {
			return address{}, &Error{Code: 1, Name: "user_error", Field: "COVEY_MESH_TOKEN", Message: "COVEY_MESH_TOKEN is not a token"}
		}
		return locate(about, home, "mesh", name)
	}
	refused := &Error{Code: 5, Name: "not_found", Message: fmt.Sprintf("%q is not a mesh that was joined here", wanted),
		Suggestion: "Name one of these, or set COVEY_MESH: " + strings.Join(names, ", "), ValidValues: names}
	if wanted == "" {
		refused.Message = "it is not said which mesh is meant"
	}
	if len(names) == 0 {
		refused.Name, refused.Suggestion = "no_mesh", "Join one: covey mesh join TOKEN"
	}
	return address{}, refused
}

var (
	nameOfMesh = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,39}$`)
	portNumber = regexp.MustCompile(`^0*[1-9][0-9]{0,4}$`)
	printable  = regexp.MustCompile(`^[!-~]+$`) // what can stand in a header
)

// currentFolder returns the current folder with a slash at its end; nothing if it was removed.
func currentFolder() string {
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	return withSlash(filepath.EvalSymlinks(here))
}

// listedFolder returns the folder that a line names, with a slash at its end; nothing for a relative path, and for one
// that is not there.
func listedFolder(line string) string {
	if strings.HasPrefix(line, "~/") {
		user, _ := os.UserHomeDir()
		line = user + line[1:]
	}
	if !filepath.IsAbs(line) {
		return ""
	}
	return withSlash(filepath.EvalSymlinks(line))
}

func withSlash(folder string, err error) string {
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(folder, "/") + "/"
}

// textOf returns the text of a file; nothing if it cannot be read or is not a regular file: a pipe would block.
func textOf(path string) string {
	if found, err := os.Stat(path); err != nil || !found.Mode().IsRegular() {
		return ""
	}
	content, _ := os.ReadFile(path)
	return strings.ToValidUTF8(string(content), "\ufffd")
}

// locate finds the socket of a daemon; where there is none, the port of this machine and the token for it.
func locate(about address, home string, place ...string) (address, error) {
	seat := filepath.Join(append([]string{home}, place...)...)
	if err := checkOwners(home, filepath.Dir(seat), seat, filepath.Join(seat, "sock")); err != nil {
		return address{}, err
	}
	_, noSocket := os.Stat(filepath.Join(seat, "sock"))
	_, noPort := os.Lstat(filepath.Join(seat, "http.port"))
	if noSocket == nil || noPort != nil {
		about.path = filepath.Join(seat, "sock")
		return about, nil
	}
	if about.token == "" {
		about.token = strings.TrimSpace(textOf(filepath.Join(seat, "http.token")))
	}
	about.port = strings.TrimSpace(textOf(filepath.Join(seat, "http.port")))
	if number, err := strconv.Atoi(about.port); err != nil || number > 65535 || !portNumber.MatchString(about.port) || !printable.MatchString(about.token) {
		return address{}, notRunning(about, seat+" has no socket, and its port or token is not known")
	}
	return about, nil
}

// checkOwners returns an error if another user could be behind the socket or the port, as the command does: each of these
// has to be this user's, and closed to writing by others.
func checkOwners(paths ...string) error {
	for _, path := range paths {
		link, err := os.Lstat(path)
		found, missing := os.Stat(path)
		if err != nil || missing != nil {
			continue // connecting to it says that better
		}
		refused := &Error{Code: 6, Name: "permission_denied"}
		if !ownedBy(found, os.Geteuid()) || !(ownedBy(link, os.Geteuid()) || ownedBy(link, 0)) {
			refused.Message, refused.Suggestion = path+" belongs to another user", "Use a home of your own: set COVEY_HOME."
		} else if found.IsDir() && os.Geteuid() >= 0 && found.Mode().Perm()&0o022 != 0 {
			refused.Message, refused.Suggestion = path+" can be written by other users", "Close it: chmod 700 "+path
		} else {
			continue
		}
		return refused
	}
	return nil
}

func notRunning(at address, reason string) *Error {
	return &Error{Code: 2, Name: "daemon_not_running", Recoverable: true, Suggestion: "Run `" + at.command + "` to start it.",
		Message: fmt.Sprintf("%s is not running (%s)", at.title, reason)}
}

// call performs an operation, over broken connections and daemons that start again, under one idempotency key.
func (c *client) call(ctx context.Context, method, route string, params map[string]any, mutating bool, result any) error {
	if err := c.usable(); err != nil {
		return err
	}
	limit, has := ctx.Deadline()
	if !has {
		limit = time.Now().Add(callLimit)
	}
	given, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	defer context.AfterFunc(c.open, cancel)()
	header := http.Header{}
	if key, has := ctx.Value(keyOfCall{}).(string); mutating && has {
		if len(key) > 200 || !printable.MatchString(key) {
			return &Error{Code: 1, Name: "user_error", Field: "Idempotency-Key",
				Message: "the idempotency key is not 1 to 200 printable ASCII characters without spaces"}
		}
		header.Set("Idempotency-Key", key)
	} else if mutating {
		var random [16]byte
		_, _ = rand.Read(random[:])
		header.Set("Idempotency-Key", hex.EncodeToString(random[:]))
	}
	target, content, err := prepare(method, route, params)
	if err != nil {
		return err
	}
	again := attempts{client: c, patience: patience}
	for {
		if limit, has := ctx.Deadline(); has {
			header.Set("Covey-Deadline-Ms", strconv.FormatInt(min(max(time.Until(limit).Milliseconds(), 100), 999_999_999), 10))
		}
		answer, err := c.exchange(given, method, target, content, header)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(answer.Body)
			_ = answer.Body.Close()
		}
		if err != nil {
			if err = again.after(given, err); err != nil {
				return err
			}
			continue
		}
		if answer.StatusCode == http.StatusOK {
			if text, ok := result.(*string); ok && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
				*text = string(body)
				return nil
			}
			return decode(body, result)
		}
		refused := refusal(answer.StatusCode, body)
		later := time.Duration(refused.RetryAfterMS) * time.Millisecond
		if later == 0 && refused.Code == 9 {
			later = 250 * time.Millisecond
		}
		if limit, _ := given.Deadline(); later == 0 || time.Until(limit) < later {
			return refused
		}
		if sleep(given, later) != nil {
			return refused
		}
	}
}

type message struct {
	name   string
	data   json.RawMessage
	cursor int64
}

// stream yields the messages of a stream without end, over reconnects; it resumes after the last cursor.
func (c *client) stream(ctx context.Context, route string, params map[string]any, after *int64) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		if err := c.usable(); err != nil {
			yield(message{}, err)
			return
		}
		began := time.Now()
		wait, timed := params["timeout"].(string)
		again := attempts{client: c}
		for {
			if timed {
				params["timeout"] = fmt.Sprintf("%.3fs", max(seconds(wait)-time.Since(began).Seconds(), 0))
			}
			wanted, err := c.connection(ctx, route, params, &after, func(one message) bool {
				again.count = 0
				return yield(one, nil)
			})
			if !wanted {
				return
			}
			var refused *Error
			if errors.As(err, &refused) && after != nil && (refused.Field == "since" || refused.Field == "Last-Event-ID") {
				after, err = nil, errors.New("the journal has begun anew")
			}
			if err = again.after(ctx, err); err != nil {
				yield(message{}, err)
				return
			}
		}
	}
}

// connection passes on the messages of one connection until it ends; the second result is false if no more are wanted.
func (c *client) connection(ctx context.Context, route string, params map[string]any, after **int64, give func(message) bool) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.open, cancel)()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	header := http.Header{"Accept": {"text/event-stream"}}
	if *after != nil {
		header.Set("Last-Event-Id", strconv.FormatInt(**after, 10))
	}
	target, _, err := prepare("GET", route, params)
	if err != nil {
		return true, err
	}
	answer, err := c.exchange(ctx, "GET", target, nil, header)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		return true, refusal(answer.StatusCode, body)
	}
	var one message
	reader := bufio.NewReaderSize(answer.Body, 64*1024)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return true, err
		}
		quiet.Reset(silence)
		field, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
		switch string(field) {
		case "event":
			one.name = string(value)
		case "data":
			one.data = value
		case "id":
			cursor, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return true, badAnswer(err)
			}
			*after = &cursor
		case "":
			if len(line) > 1 || one.data == nil {
				continue // a comment, and the line after it
			}
			switch one.name {
			case "covey.error":
				return true, refusal(http.StatusOK, one.data)
			case "covey.gap":
				var gap struct{ Until int64 }
				if err := decode(one.data, &gap); err != nil {
					return true, err
				}
				*after = &gap.Until
			case "covey.reset":
				*after = new(int64)
			}
			if *after != nil {
				one.cursor = **after
			}
			if one.name != "covey.slow" && !give(one) {
				return false, nil
			}
			one = message{}
		}
	}
}

// last returns what a stream ends with.
func (c *client) last(ctx context.Context, route string, params map[string]any, result any) error {
	for one, err := range c.stream(ctx, route, params, nil) {
		if err != nil {
			return err
		}
		if one.name == "done" {
			return decode(one.data, result)
		}
	}
	return nil
}

// iterate yields the data of the messages of a stream.
func iterate[T any](ctx context.Context, c *client, route string, params map[string]any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for one, err := range c.stream(ctx, route, params, nil) {
			var found T
			if err == nil && strings.HasPrefix(one.name, "covey.") {
				continue
			}
			if err == nil {
				err = decode(one.data, &found)
			}
			if !yield(found, err) || err != nil {
				return
			}
		}
	}
}

// prepare returns the target and the body of a request, or a user_error for what cannot be sent.
func prepare(method, route string, params map[string]any) (string, []byte, error) {
	query, body := url.Values{}, map[string]any{}
	for name, value := range params {
		switch {
		case strings.Contains(route, "{"+name+"}"):
			route = strings.ReplaceAll(route, "{"+name+"}", url.PathEscape(fmt.Sprint(value)))
		case method == "POST" || method == "PUT":
			body[name] = value
		default:
			switch given := value.(type) {
			case []string:
				query[name] = given
			case map[string]any:
				text, failed := json.Marshal(given)
				if failed == nil && !isText(reflect.ValueOf(given)) {
					failed = errNotText
				}
				if failed != nil {
					return "", nil, &Error{Code: 1, Name: "user_error", Message: failed.Error()}
				}
				query.Set(name, string(text))
			default:
				query.Set(name, fmt.Sprint(value))
			}
		}
	}
	if len(query) > 0 {
		route += "?" + query.Encode()
	}
	target, err := url.PathUnescape(route)
	if err == nil && !utf8.ValidString(target) {
		err = errNotText
	}
	var content []byte
	if len(body) > 0 && err == nil {
		content, err = json.Marshal(body)
	}
	if err == nil && (!utf8.Valid(content) || !isText(reflect.ValueOf(body))) {
		err = errNotText
	}
	if err != nil {
		return "", nil, &Error{Code: 1, Name: "user_error", Message: "the arguments cannot be sent: " + err.Error()}
	}
	return route, content, nil
}

// exchange sends a request and returns the head of its answer.
func (c *client) exchange(ctx context.Context, method, target string, content []byte, header http.Header) (*http.Response, error) {
	at, err := c.address()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://localhost"+target, bytes.NewReader(content))
	if err != nil {
		return nil, &Error{Code: 1, Name: "user_error", Message: err.Error()}
	}
	request.Header = header.Clone()
	if len(content) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if at.token != "" {
		request.Header.Set("Authorization", "Bearer "+at.token)
	}
	answer, err := c.http.Do(request)
	if err == nil {
		c.known.Store(true)
		if answer.Header.Get("Covey-Api") == "" {
			_ = answer.Body.Close()
			return nil, &Error{Code: 2, Name: "bad_answer", Message: "what answers is not a Covey daemon"}
		}
	}
	return answer, err
}

// attempts decides after a failed attempt whether there is another one, and waits before it. Without patience it goes on.
type attempts struct {
	client   *client
	patience time.Duration
	began    time.Time
	count    int
}

func (a *attempts) after(ctx context.Context, err error) error {
	var told *Error
	if errors.As(err, &told) && !(told.Name == "daemon_not_running" && a.client.known.Load()) {
		return told
	}
	if closed := a.client.usable(); closed != nil {
		return closed
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return errors.Join(&Error{Code: 4, Name: "timeout", Message: "the deadline has passed", Recoverable: true}, ctx.Err())
	}
	if a.began.IsZero() {
		a.began = time.Now()
	}
	at, _ := a.client.address()
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
	over := a.patience > 0 && time.Since(a.began) > a.patience
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errors.Join(&Error{Code: 6, Name: "permission_denied", Message: at.path + " belongs to somebody else"}, err)
	case absent && (over || !a.client.known.Load()):
		return errors.Join(notRunning(at, err.Error()), err)
	case over:
		return errors.Join(&Error{Code: 2, Name: "connection_lost", Recoverable: true, Message: fmt.Sprintf("the connection to %s broke: %v", at.title, err)}, err)
	}
	pause := pauses[min(a.count, len(pauses)-1)] * time.Millisecond
	a.count++
	if sleep(ctx, pause) != nil {
		return a.after(ctx, err)
	}
	return nil
}

func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

func refusal(status int, body []byte) *Error {
	found := &Error{Status: status}
	if json.Unmarshal(body, found) != nil || found.Name == "" {
		return &Error{Code: 2, Name: "bad_answer", Message: fmt.Sprintf("the daemon answered with status %d", status), Status: status}
	}
	return found
}

func badAnswer(reason error) *Error {
	return &Error{Code: 2, Name: "bad_answer", Message: "what the daemon has sent is broken: " + reason.Error()}
}

// decode reads a JSON object.
func decode(data []byte, result any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return badAnswer(errors.New("a JSON object is due"))
	}
	if err := json.Unmarshal(data, result); err != nil {
		return badAnswer(err)
	}
	return nil
}

var durationPart = regexp.MustCompile(`([0-9.]+)\s*(d|h|ms|m|s|$)`)

// seconds returns the length of a duration such as 90, 30s or 1h30m.
func seconds(text string) (total float64) {
	units := map[string]float64{"d": 86400, "h": 3600, "m": 60, "s": 1, "": 1, "ms": 0.001}
	for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
		number, _ := strconv.ParseFloat(part[1], 64)
		total += number * units[part[2]]
	}
	return total
}
