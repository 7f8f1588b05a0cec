// Control-plane runs a real etcd, kube-apiserver, kube-controller-manager and, if asked to, kube-scheduler in one process.
//
// It decides nothing itself: ports, certificates and flags come from the JSON file that the role
// local_cluster writes, so that a change of flags needs no rebuild. It ends on SIGTERM or SIGINT,
// or when one of its parts does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// config is the file named by the only argument.
type config struct {
	Etcd struct {
		Dir       string `json:"dir"`
		ClientURL string `json:"clientURL"`
		PeerURL   string `json:"peerURL"`
		// UnsafeNoFsync: the data of a test cluster need not survive a power cut.
		UnsafeNoFsync bool `json:"unsafeNoFsync"`
	} `json:"etcd"`
	APIServer         []string `json:"apiServer"`
	ControllerManager []string `json:"controllerManager"`
	// Scheduler is empty if something else binds the pods.
	Scheduler []string `json:"scheduler"`
	// StartControllersFile appears when the kinds that the controllers are to know are served; they start then.
	StartControllersFile string `json:"startControllersFile"`
}

// drain is how long requests under way may take when the process is asked to end.
const drain = 300 * time.Millisecond

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: control-plane CONFIG.json")
	}
	cfg, err := readConfig(os.Args[1])
	if err != nil {
		return err
	}
	etcd, err := startEtcd(cfg)
	if err != nil {
		return err
	}
	// Not etcd.Close(), which waits for the API server's watches too.
	defer etcd.Server.Stop()

	// Both commands apply the logging configuration; the second time is no error here.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	// The controller manager's command must be made before the API server's: the latter adds
	// feature gates that the former wants to set.
	controllers := controllermanager.NewControllerManagerCommand()
	server := apiserver.NewAPIServerCommand()
	controllers.SetArgs(cfg.ControllerManager)
	server.SetArgs(cfg.APIServer)

	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	ended := make(chan error, 3)
	go func() { ended <- server.Execute() }()
	go func() {
		waitForFile(cfg.StartControllersFile)
		ended <- controllers.Execute()
	}()
	if len(cfg.Scheduler) > 0 {
		go func() {
			waitForFile(cfg.StartControllersFile)
			ended <- schedule(cfg.Scheduler)
		}()
	}
	select {
	case err := <-ended:
		return err
	case err := <-etcd.Err():
		return fmt.Errorf("etcd: %w", err)
	case <-asked:
		// The API server handles the signal too: it takes no more requests, then waits up to a minute for
		// open watches to end. Requests get a moment to be answered; watches end with this process.
		select {
		case err := <-ended:
			return err
		case <-time.After(drain):
			return nil
		}
	}
}

// schedule runs kube-scheduler. Its command cannot be used: it handles signals, which only one part of a process may.
func schedule(flags []string) error {
	options := scheduleroptions.NewOptions()
	set := pflag.NewFlagSet("kube-scheduler", pflag.ContinueOnError)
	for _, group := range options.Flags.FlagSets {
		set.AddFlagSet(group)
	}
	if err := set.Parse(flags); err != nil {
		return err
	}
	ctx := context.Background()
	cfg, kubeScheduler, err := scheduler.Setup(ctx, options)
	if err != nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	return scheduler.Run(ctx, cfg, kubeScheduler)
}

func readConfig(path string) (*config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cfg := &config{}
	if err := json.Unmarshal(text, cfg); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, nil
}

func startEtcd(cfg *config) (*embed.Etcd, error) {
	client, err := url.Parse(cfg.Etcd.ClientURL)
	if err != nil {
		return nil, err
	}
	peer, err := url.Parse(cfg.Etcd.PeerURL)
	if err != nil {
		return nil, err
	}
	options := embed.NewConfig()
	options.Dir = cfg.Etcd.Dir
	options.UnsafeNoFsync = cfg.Etcd.UnsafeNoFsync
	options.LogLevel = "error"
	options.ListenClientUrls, options.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	options.ListenPeerUrls, options.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	options.InitialCluster = options.InitialClusterFromName(options.Name)
	etcd, err := embed.StartEtcd(options)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		return nil, fmt.Errorf("etcd: %w", err)
	case <-time.After(30 * time.Second):
		etcd.Close()
		return nil, fmt.Errorf("etcd: not ready after 30 seconds")
	}
}

// waitForFile lets the starter of this process say when: it polls the API server anyway.
func waitForFile(path string) {
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
