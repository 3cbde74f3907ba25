// Command relay is an on-call relay: it gives each message of a topic to a pager over HTTP, and tells its sender that the
// pager has it.
//
//	relay alerts https://pager.example.org/hook relay.cursor
//
// The last argument is the file in which the relay keeps how far it has come: it may be killed at any moment. The pager is
// then given a message again, with the same Idempotency-Key; the sender is told once.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	covey "covey.example/sdk"
)

var pauses = []time.Duration{1, 2, 5, 10, 30} // seconds

type message struct {
	ID       string `json:"id"`
	FromName string `json:"from_name"`
	Text     string `json:"text"`
	Priority string `json:"priority"`
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: relay TOPIC URL FILE")
	}
	if err := relay(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

// relay ends with an error only.
func relay(ctx context.Context, topic, url, file string) error {
	mesh, err := covey.Connect()
	if err != nil {
		return err
	}
	if _, err := mesh.TopicSubscribe(ctx, topic); err != nil {
		return err
	}
	after, err := begin(ctx, mesh, file)
	if err != nil {
		return err
	}
	for event, err := range mesh.Events(ctx, &covey.EventsOptions{After: &after, Kinds: []string{"message"}}) {
		if err != nil {
			return err
		}
		var received struct {
			message
			From, Topic string
		}
		if err := json.Unmarshal(event.Data, &received); err != nil {
			return err
		}
		if received.Topic == topic {
			if err := page(url, received.message); err != nil {
				return err
			}
			keyed := covey.WithKey(ctx, "relay-"+received.ID)
			_, err := mesh.Send(keyed, received.From, "paged", covey.MeshSendOptions{ReplyToID: &received.ID})
			var refused *covey.Error
			if errors.As(err, &refused) { // the sender has left the mesh, say
				log.Printf("%s is not told: %v", received.FromName, refused)
			} else if err != nil {
				return err
			}
		}
		if err := keep(file, event.Cursor); err != nil {
			return err
		}
	}
	return nil
}

// begin returns how far the relay had come; at its first start, it begins with what comes from now on.
func begin(ctx context.Context, mesh *covey.Mesh, file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	now, err := mesh.Cursor(ctx)
	if err != nil {
		return 0, err
	}
	return now, keep(file, now)
}

// keep writes how far the relay has come, whole or not at all.
func keep(file string, cursor int64) error {
	if err := os.WriteFile(file+".new", []byte(strconv.FormatInt(cursor, 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// page gives a message to the pager. It tries until the pager has taken it: an alert that is left out helps nobody.
func page(url string, content message) error {
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	for attempts := 0; ; attempts++ {
		if err = post(url, content.ID, body); err == nil {
			return nil
		}
		log.Printf("the pager did not take %s: %v", content.ID, err)
		time.Sleep(pauses[min(attempts, len(pauses)-1)] * time.Second)
	}
}

func post(url, key string, body []byte) error {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	answer, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}
