// Command kube_scheduler says on which nodes a pod fits, by the filter plugins of the real kube-scheduler.
//
// It reads one case a line, {"nodes": [Node], "pods": [Pod, with spec.nodeName], "pending": [Pod]}, and writes one line
// for each: the names of the nodes that each pending pod fits on when it is placed alone, in the order of the nodes.
// "claims", "volumes" and "classes" are the PersistentVolumeClaims, PersistentVolumes and StorageClasses, if any.
// With "placed", a list of node names ("" for none), each pending pod is placed on its node before the next is judged.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

type placementCase struct {
	Nodes   []*v1.Node `json:"nodes"`
	Pods    []*v1.Pod  `json:"pods"`
	Pending []*v1.Pod  `json:"pending"`
	Placed  []string   `json:"placed"`

	Claims  []*v1.PersistentVolumeClaim `json:"claims"`
	Volumes []*v1.PersistentVolume      `json:"volumes"`
	Classes []*storagev1.StorageClass   `json:"classes"`
}

func registry() runtime.Registry {
	features := plfeature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	return runtime.Registry{
		nodeunschedulable.Name: runtime.FactoryAdapter(features, nodeunschedulable.New),
		tainttoleration.Name:   runtime.FactoryAdapter(features, tainttoleration.New),
		nodeaffinity.Name:      runtime.FactoryAdapter(features, nodeaffinity.New),
		noderesources.Name:     runtime.FactoryAdapter(features, noderesources.NewFit),
		podtopologyspread.Name: runtime.FactoryAdapter(features, podtopologyspread.New),
		interpodaffinity.Name:  runtime.FactoryAdapter(features, interpodaffinity.New),
		volumebinding.Name:     runtime.FactoryAdapter(features, volumebinding.New),
		queuesort.Name:         queuesort.New,
		defaultbinder.Name:     defaultbinder.New,
	}
}

// profile is the default one, reduced to the plugins of the registry.
func profile(known runtime.Registry) (*config.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	found := defaults.Profiles[0]
	var kept []config.Plugin
	for _, plugin := range found.Plugins.MultiPoint.Enabled {
		if _, ok := known[plugin.Name]; ok {
			kept = append(kept, plugin)
		}
	}
	found.Plugins.MultiPoint.Enabled = kept
	return &found, nil
}

// settled is how long the plugin's own caches of volumes may take behind the informers, which they do not tell.
const settled = 30 * time.Millisecond

// objectsOf is a list as a fake client takes it.
func objectsOf[T apiruntime.Object](some []T) []apiruntime.Object {
	found := make([]apiruntime.Object, len(some))
	for index, one := range some {
		found[index] = one
	}
	return found
}

func newFramework(ctx context.Context, given placementCase, snapshot *cache.Snapshot) (framework.Framework, error) {
	// Nothing is asked of a server: what the plugins look at is in the snapshot, and storage in informers.
	objects := slices.Concat(objectsOf(given.Claims), objectsOf(given.Volumes), objectsOf(given.Classes))
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	known := registry()
	chosen, err := profile(known)
	if err != nil {
		return nil, err
	}
	made, err := runtime.NewFramework(ctx, known, chosen,
		runtime.WithClientSet(client),
		runtime.WithInformerFactory(factory),
		runtime.WithSnapshotSharedLister(snapshot))
	if err == nil && len(objects) > 0 {
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		time.Sleep(settled)
	}
	return made, err
}

func fitting(ctx context.Context, judge framework.Framework, nodes []fwk.NodeInfo, order []*v1.Node, pod *v1.Pod) []string {
	found := []string{}
	state := framework.NewCycleState()
	only, status, _ := judge.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return found
	}
	fits := map[string]bool{}
	for _, node := range nodes {
		name := node.Node().Name
		if !only.AllNodes() && !only.NodeNames.Has(name) {
			continue
		}
		fits[name] = judge.RunFilterPlugins(ctx, state, pod, node).IsSuccess()
	}
	for _, node := range order {
		if fits[node.Name] {
			found = append(found, node.Name)
		}
	}
	return found
}

func judged(ctx context.Context, given placementCase, pending []*v1.Pod) ([][]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	snapshot := cache.NewSnapshot(given.Pods, given.Nodes)
	judge, err := newFramework(ctx, given, snapshot)
	if err != nil {
		return nil, err
	}
	nodes, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	result := [][]string{}
	for _, pod := range pending {
		result = append(result, fitting(ctx, judge, nodes, given.Nodes, pod))
	}
	return result, nil
}

func answer(ctx context.Context, given placementCase) ([][]string, error) {
	if given.Placed == nil {
		return judged(ctx, given, given.Pending)
	}
	result := [][]string{}
	for number, pod := range given.Pending {
		found, err := judged(ctx, given, []*v1.Pod{pod})
		if err != nil {
			return nil, err
		}
		result = append(result, found...)
		if node := given.Placed[number]; node != "" {
			pod.Spec.NodeName = node
			given.Pods = append(given.Pods, pod)
		}
	}
	return result, nil
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	metrics.Register()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	output := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given placementCase
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			log.Fatalf("a case cannot be read: %v", err)
		}
		result, err := answer(ctx, given)
		if err != nil {
			log.Fatalf("no framework: %v", err)
		}
		if err := output.Encode(result); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
