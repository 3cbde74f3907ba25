// Command bench is what bench/sdk.py measures of the Go SDK: one command on standard input is one JSON line, as is its
// answer.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	covey "covey.example/sdk"
)

type asked struct {
	Do, Home string
	Count    int
}

var meshes = map[string]*covey.Mesh{}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one asked
		must(json.Unmarshal(lines.Bytes(), &one))
		switch one.Do {
		case "send":
			say(send(one.Home, one.Count))
		case "receive":
			say(receive(one.Home, one.Count))
		case "iterate":
			say(iterate(one.Home, one.Count))
		}
	}
}

// send returns how long each of so many sends took, in seconds.
func send(home string, count int) []float64 {
	if meshes[home] == nil {
		mesh, err := covey.ConnectMesh("", home)
		must(err)
		meshes[home] = mesh
	}
	taken := make([]float64, count)
	for number := range taken {
		began := time.Now()
		_, err := meshes[home].Send(context.Background(), "@bob", strings.Repeat("x", 200), covey.MeshSendOptions{})
		must(err)
		taken[number] = time.Since(began).Seconds()
	}
	return taken
}

// receive returns when each of the next events came.
func receive(home string, count int) (taken []float64) {
	node, err := covey.ConnectNode(home)
	must(err)
	after, err := node.Cursor(context.Background())
	must(err)
	say("ready")
	options := &covey.EventsOptions{After: &after, Kinds: []string{"bench.event"}}
	for _, err := range node.Events(context.Background(), options) {
		must(err)
		taken = append(taken, float64(time.Now().UnixNano())/1e9)
		if len(taken) == count {
			break
		}
	}
	return taken
}

// iterate reads so many events from the first one on, with ten stops; it returns how many did not follow the one before.
func iterate(home string, count int) (wrong int) {
	node, err := covey.ConnectNode(home)
	must(err)
	var first, last int64
	number := 0
	options := &covey.EventsOptions{After: &first, Kinds: []string{"bench.event"}}
	for event, err := range node.Events(context.Background(), options) {
		must(err)
		if event.Cursor <= last {
			wrong++
		}
		last = event.Cursor
		if number++; number%(count/10) == 0 {
			say(number)
		}
		if number == count {
			break
		}
	}
	return wrong
}

func say(value any) {
	text, err := json.Marshal(value)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
