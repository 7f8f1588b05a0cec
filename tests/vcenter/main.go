// Command vcenter simulates a vCenter with machines of odd sizes until its input ends.
//
// It prints one line of JSON: its address, and the vCPUs and memory in MiB of each machine by name.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strconv"

	"github.com/vmware/govmomi/simulator"
)

var guests = []string{"rhel9_64Guest", "windows2019srv_64Guest", "ubuntu64Guest", "otherGuest64"}

type size struct {
	CPUs   int32 `json:"cpus"`
	Memory int32 `json:"memory"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	model := simulator.VPX()
	model.Machine = count / 2 // for each of two: a host, and a cluster
	defer model.Remove()
	if err := model.Create(); err != nil {
		return err
	}
	chance := rand.New(rand.NewSource(5))
	sizes := map[string]size{}
	for _, entity := range model.Map().All("VirtualMachine") {
		machine := entity.(*simulator.VirtualMachine)
		given := size{CPUs: 1 + chance.Int31n(16), Memory: 256 + chance.Int31n(60000)}
		machine.Config.Hardware.NumCPU = given.CPUs
		machine.Config.Hardware.MemoryMB = given.Memory
		machine.Config.GuestId = guests[chance.Intn(len(guests))]
		machine.Config.Firmware = []string{"bios", "efi"}[chance.Intn(2)]
		sizes[machine.Name] = given
	}
	server := model.Service.NewServer()
	defer server.Close()
	answer := map[string]any{"address": "http://" + server.URL.Host, "sizes": sizes}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
