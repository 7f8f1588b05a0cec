// Command gitops does with manifests what Argo CD does with those of an Application, by Argo CD's own engine: it compares
// them with the cluster of KUBECONFIG, and with "sync" writes them first.
//
// A question comes as JSON on standard input, the answer goes to standard output: for each manifest its kind, its name,
// whether it is in sync, and if not what the engine would write and what the cluster has.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/engine"
	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// trackingID is the annotation by which Argo CD knows its objects.
	trackingID = "argocd.argoproj.io/tracking-id"
	// manager is its field manager.
	manager = "argocd-controller"
)

type question struct {
	Namespace         string                       `json:"namespace"`
	Manifests         []*unstructured.Unstructured `json:"manifests"`
	IgnoreDifferences ignored                      `json:"ignoreDifferences"`
	ServerSideApply   bool                         `json:"serverSideApply"`
	Sync              bool                         `json:"sync"`
}

type answer struct {
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Synced    bool            `json:"synced"`
	Predicted json.RawMessage `json:"predicted,omitempty"`
	Live      json.RawMessage `json:"live,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("read the question: %w", err)
	}
	answers, err := asked.answers(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func (asked question) answers(ctx context.Context) ([]answer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	// The cache lists each kind; a limit would make each answer take half a minute.
	config.QPS = -1
	log := logr.Discard()
	live := cache.NewClusterCache(config,
		cache.SetNamespaces([]string{asked.Namespace}),
		cache.SetClusterResources(true),
		cache.SetLogr(log),
		cache.SetPopulateResourceInfoHandler(func(object *unstructured.Unstructured, _ bool) (any, bool) {
			id := object.GetAnnotations()[trackingID]
			return id, id != ""
		}),
	)
	argo := engine.NewEngine(config, live, engine.WithLogr(log))
	stop, err := argo.Run()
	if err != nil {
		return nil, fmt.Errorf("list the cluster: %w", err)
	}
	defer stop()

	for _, manifest := range asked.Manifests {
		track(manifest, asked.Namespace)
	}
	isManaged := func(resource *cache.Resource) bool {
		id, _ := resource.Info.(string)
		return strings.HasPrefix(id, "fleet:")
	}
	if asked.Sync {
		if err := asked.sync(ctx, argo, live, isManaged); err != nil {
			return nil, err
		}
		// The cache learns of its own writes by a watch.
		live.Invalidate()
		if err := live.EnsureSynced(); err != nil {
			return nil, fmt.Errorf("list the cluster again: %w", err)
		}
	}
	return asked.compare(live, isManaged)
}

// sync writes the manifests, ignored fields as the cluster has them (RespectIgnoreDifferences=true).
func (asked question) sync(
	ctx context.Context, argo engine.GitOpsEngine, live cache.ClusterCache, isManaged func(*cache.Resource) bool,
) error {
	objects, err := live.GetManagedLiveObjs(asked.Manifests, isManaged)
	if err != nil {
		return fmt.Errorf("find the live objects: %w", err)
	}
	targets := make([]*unstructured.Unstructured, len(asked.Manifests))
	for i, manifest := range asked.Manifests {
		targets[i] = manifest.DeepCopy()
		if object := objects[kube.GetResourceKey(manifest)]; object != nil {
			if err := asked.IgnoreDifferences.keepLive(targets[i], object); err != nil {
				return err
			}
		}
	}
	results, err := argo.Sync(ctx, targets, isManaged, "HEAD", asked.Namespace,
		sync.WithLogr(logr.Discard()), sync.WithServerSideApply(asked.ServerSideApply), sync.WithServerSideApplyManager(manager))
	for _, result := range results {
		if result.Status != common.ResultCodeSynced {
			return fmt.Errorf("sync %s: %s", result.ResourceKey.String(), result.Message)
		}
	}
	return err
}

func (asked question) compare(live cache.ClusterCache, isManaged func(*cache.Resource) bool) ([]answer, error) {
	objects, err := live.GetManagedLiveObjs(asked.Manifests, isManaged)
	if err != nil {
		return nil, fmt.Errorf("find the live objects: %w", err)
	}
	result := sync.Reconcile(asked.Manifests, objects, asked.Namespace, live)
	answers := make([]answer, len(result.Target))
	for i, target := range result.Target {
		if target == nil {
			// Argo CD would delete it, if told to prune.
			answers[i] = answer{Kind: result.Live[i].GetKind(), Name: result.Live[i].GetName()}
			continue
		}
		answers[i] = answer{Kind: target.GetKind(), Name: target.GetName()}
		found, err := diff.Diff(target, result.Live[i],
			diff.WithNormalizer(asked.IgnoreDifferences), diff.WithStructuredMergeDiff(asked.ServerSideApply),
			diff.WithGVKParser(live.GetGVKParser()), diff.WithManager(manager), diff.WithLogr(logr.Discard()))
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", target.GetName(), err)
		}
		answers[i].Synced = !found.Modified
		if found.Modified {
			answers[i].Predicted, answers[i].Live = found.PredictedLive, found.NormalizedLive
		}
	}
	return answers, nil
}

// track marks a manifest as one of the Application "fleet".
func track(manifest *unstructured.Unstructured, namespace string) {
	kind := manifest.GroupVersionKind()
	annotations := manifest.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[trackingID] = fmt.Sprintf("fleet:%s/%s:%s/%s", kind.Group, kind.Kind, namespace, manifest.GetName())
	manifest.SetAnnotations(annotations)
}
