package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/bench/go/mydaemonset-controller-runtime/api"
)

const ownerIndex = ".metadata.controller"

type reconciler struct {
	client client.Client
	events events.EventRecorder
}

func (r *reconciler) setUp(mgr ctrl.Manager) error {
	owner := func(object client.Object) []string {
		if owner := metav1.GetControllerOf(object); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, ownerIndex, owner); err != nil {
		return err
	}
	changed := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isNode := e.ObjectOld.(*corev1.Node)
		after, isStill := e.ObjectNew.(*corev1.Node)
		return !isNode || !isStill || !reflect.DeepEqual(before.Labels, after.Labels) ||
			!reflect.DeepEqual(before.Spec.Taints, after.Spec.Taints)
	}}
	return ctrl.NewControllerManagedBy(mgr).
		For(&api.MyDaemonSet{}).
		Owns(&corev1.Pod{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(changed)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

// all returns requests for all sets.
func (r *reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	var sets api.MyDaemonSetList
	if err := r.client.List(ctx, &sets); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(sets.Items))
	for i := range sets.Items {
		key := types.NamespacedName{Namespace: sets.Items[i].Namespace, Name: sets.Items[i].Name}
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}

// Reconcile creates and deletes Pods of a set as its spec requires, and updates its status.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var set api.MyDaemonSet
	if err := r.client.Get(ctx, request.NamespacedName, &set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if set.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	var nodes corev1.NodeList
	if err := r.client.List(ctx, &nodes); err != nil {
		return reconcile.Result{}, err
	}
	var pods corev1.PodList
	owned := client.MatchingFields{ownerIndex: string(set.UID)}
	if err := r.client.List(ctx, &pods, client.InNamespace(set.Namespace), owned); err != nil {
		return reconcile.Result{}, err
	}
	p := newPlan(&set, nodes.Items, pods.Items, time.Now())
	var failed error
	for _, pod := range p.missing {
		failed = errors.Join(failed, r.create(ctx, &set, pod))
	}
	for _, pod := range p.surplus {
		failed = errors.Join(failed, r.remove(ctx, &set, pod))
	}
	before := set.DeepCopy()
	p.report(&set.Status)
	if !reflect.DeepEqual(before.Status, set.Status) {
		failed = errors.Join(failed, r.client.Status().Patch(ctx, &set, client.MergeFrom(before)))
	}
	return reconcile.Result{RequeueAfter: p.next}, failed
}

func (r *reconciler) create(ctx context.Context, set *api.MyDaemonSet, pod *corev1.Pod) error {
	if err := ctrl.SetControllerReference(set, pod, r.client.Scheme()); err != nil {
		return err
	}
	err := r.client.Create(ctx, pod)
	switch {
	case apierrors.IsAlreadyExists(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil
	case err != nil:
		r.events.Eventf(set, nil, corev1.EventTypeWarning, "FailedCreate", "Create", "failed to create Pod %s: %v", pod.Name, err)
		return fmt.Errorf("create Pod %s: %w", pod.Name, err)
	}
	r.events.Eventf(set, nil, corev1.EventTypeNormal, "SuccessfulCreate", "Create", "created Pod %s", pod.Name)
	return nil
}

func (r *reconciler) remove(ctx context.Context, set *api.MyDaemonSet, pod *corev1.Pod) error {
	err := r.client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Pod %s: %w", pod.Name, err)
	}
	r.events.Eventf(set, nil, corev1.EventTypeNormal, "SuccessfulDelete", "Delete", "deleted Pod %s", pod.Name)
	return nil
}
