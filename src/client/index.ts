/**
 * `typernetes/client`: a client for any Kubernetes cluster, informers, work queues, controllers, events and leader
 * election. docs/client.md is the guide.
 */

export { type Alarm, type Clock, systemClock } from '../lib/clock/clock.ts'
export { parseJson, writeJson } from '../lib/exact-json.ts'
export { MetricsRegistry } from '../lib/metrics/registry.ts'
export type { KubeObject, Model, ObjectMeta, OwnerReference, Unstructured } from '../machinery/object.ts'
export { type Status, type StatusDetails, StatusError } from '../machinery/status-error.ts'
export { type Client, type ConnectOptions, connectTo } from './connection/connect-to.ts'
export { Connection, type ServerAccess } from './connection/connection.ts'
export { ConnectionLost, RequestCanceled } from './connection/connection-lost.ts'
export {
  basicAuthentication,
  bearerToken,
  type Credentials,
  type Impersonation,
  tokenFile,
} from './connection/credentials/credentials.ts'
export { inClusterAccess, type LoadedAccess, type LoadOptions, loadAccess } from './connection/load-access.ts'
export type { RateLimit } from './connection/pacing/token-bucket.ts'
export { type RequestMetrics, restClientMetrics } from './connection/request-metrics.ts'
export {
  type Caches,
  type Controller,
  type ReconcileContext,
  type RunningController,
  reads,
  runController,
  type WatchedKind,
  watch,
} from './controller/controller.ts'
export {
  type ControllerDefinition,
  controller,
  type MappedSource,
  mapped,
  type ReconcileRequest,
  type ReconcileResult,
  type Source,
} from './controller/define-controller.ts'
export { type Manager, type ManagerOptions, manager } from './controller/manager.ts'
export {
  allOf,
  annotationsChanged,
  anyOf,
  generationChanged,
  labelsChanged,
  type Predicate,
} from './controller/predicates.ts'
export { stopSignals } from './controller/stop-signals.ts'
export { type DiscoveredResource, type Discovery, discover, supports } from './discovery/discovery.ts'
export { DynamicClient, type ObjectReference } from './discovery/dynamic-client.ts'
export { type OpenApiDocument, openApiDocument, openApiIndex, openApiV2 } from './discovery/openapi.ts'
export { NoMatch, RestMapper } from './discovery/rest-mapper.ts'
export { type LeaderElectionOptions, LeaderElector, type LeadershipEnd } from './election/leader-election.ts'
export { EventRecorder, type EventSubject, type EventType } from './events/event-recorder.ts'
export { type RecordedEvent, SeriesRecorder } from './events/series-recorder.ts'
export { type ChangeHandler, type HandlerOptions, Informer, type InformerOptions, keyOf } from './informers/informer.ts'
export type { IndexFunction } from './informers/object-index.ts'
export { SharedInformers, type Transformed, transformed } from './informers/shared-informers.ts'
export * from './kinds.ts'
export { createOrUpdate, type ObjectName, updateStatus, type WriteResult } from './objects/create-or-update.ts'
export { addFinalizer, hasFinalizer, removeFinalizer, withFinalizer, withoutFinalizer } from './objects/finalizers.ts'
export { controllerOf, controllerReference } from './objects/owners.ts'
export { hasCondition, isDeleted, type WaitOptions, waitFor } from './objects/wait-for.ts'
export { type QueueMetricsProvider, workQueueMetrics } from './queue/queue-metrics.ts'
export { type AddOptions, type DelayOptions, WorkQueue, type WorkQueueOptions } from './queue/work-queue.ts'
export { apiVersionOf, nameSelector, type Resource, resource } from './resource.ts'
export type { ApplyConfiguration } from './rest/apply-configuration.ts'
export {
  type ApplyOptions,
  type DeleteOptions,
  type Identity,
  type ListOptions,
  type ObjectList,
  type PageOptions,
  type PatchType,
  RestClient,
  type ServerVersion,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './rest/rest-client.ts'
