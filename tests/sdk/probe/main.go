// Command probe makes calls with the Go SDK, each named by an argument, and prints for each one ok, or the error and its
// field.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	covey "covey.example/sdk"
)

var background = context.Background()

func list(ctx context.Context, node *covey.Node) error {
	_, err := node.BeatsList(ctx)
	return err
}

func keyed(key string) error {
	node, err := covey.ConnectNode("")
	if err == nil {
		_, err = node.TargetAdd(covey.WithKey(background, key), "nowhere", "local")
	}
	return err
}

func limited(length time.Duration) error {
	node, err := covey.ConnectNode("")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(background, length)
	defer cancel()
	return list(ctx, node)
}

func put(value any) error {
	mesh, err := covey.Connect()
	if err == nil {
		_, err = mesh.StateSet(background, "probe", value)
	}
	return err
}

// ofMesh returns the error that the peer of the mesh does not run, with its slug as the field.
func ofMesh() error {
	mesh, err := covey.Connect()
	if err == nil {
		_, err = mesh.Cursor(background)
	}
	var found *covey.Error
	if errors.As(err, &found) {
		found.Field = strings.TrimSuffix(strings.TrimPrefix(found.Suggestion, "Run `covey mesh up "), "` to start it.")
	}
	return err
}

func called(name string) error {
	node, err := covey.ConnectNode("")
	if err != nil && !strings.HasPrefix(name, "mesh") {
		return err
	}
	switch name {
	case "call":
		return list(background, node)
	case "events":
		for _, err := range node.Events(background, &covey.EventsOptions{After: new(int64)}) {
			return err
		}
	case "mesh":
		return ofMesh()
	case "mesh-removed":
		here, _ := os.Getwd()
		_ = os.Remove(here)
		return ofMesh()
	case "key-lines":
		return keyed("a\r\nCovey-Deadline-Ms: 100")
	case "key-empty":
		return keyed("")
	case "key-space":
		return keyed("a b")
	case "key-long":
		return keyed(strings.Repeat("k", 201))
	case "key-foreign":
		return keyed("é")
	case "not-json":
		return put(func() {})
	case "nan":
		return put(map[string]any{"a": []float64{math.NaN()}})
	case "infinity":
		return put(math.Inf(1))
	case "text-in-route":
		_, err = node.TargetRemove(background, "\xff")
		return err
	case "text-in-body":
		return put(map[string]any{"a": "\xff"})
	case "text-in-key":
		return put(map[string]any{"\xff": 1})
	case "text-in-struct":
		half := "\xff"
		return put([]any{struct{ A *string }{&half}})
	case "text-like-it":
		return put("\\ufffd \ufffd")
	case "deadline-0":
		return limited(0)
	case "deadline-long":
		return limited(math.MaxInt64)
	case "closed":
		if err := list(background, node); err != nil {
			return err
		}
		node.Close()
		return list(background, node)
	case "zero":
		for _, err := range (&covey.Mesh{}).Events(background, nil) {
			fmt.Print(covey.IsError(err, "user_error"), " ")
		}
		return list(background, &covey.Node{})
	default:
		panic(name)
	}
	return nil
}

func main() {
	for _, name := range os.Args[1:] {
		err := called(name)
		var found *covey.Error
		switch {
		case err == nil:
			fmt.Println("ok")
		case errors.As(err, &found):
			fmt.Println(strings.TrimSpace(found.Name + " " + found.Field))
		default:
			fmt.Println("not typed:", err)
		}
	}
}
