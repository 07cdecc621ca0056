/** A cluster for tests: a cluster, and functions to fill, watch, disturb and reset it. */
import {
  type FaultRule,
  type LoggedRequest,
  type RequestMatch,
  testKitAgent,
} from '../../apiserver/test-control/index.ts'
import type { WaitCondition } from '../../client/conditions/condition.ts'
import { type Client, connectTo } from '../../client/connection/connect-to.ts'
import { DynamicClient } from '../../client/discovery/dynamic-client.ts'
import { type ApplyManifestsOptions, applyManifests } from '../../client/manifests/apply-manifests.ts'
import type { Manifests } from '../../client/manifests/read-manifests.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { Unstructured } from '../../machinery/object.ts'
import type { Cluster, ClusterOptions } from '../cluster-options.ts'
import type { UserIdentity } from '../credentials/cluster-users.ts'
import { startCluster } from '../start-cluster.ts'
import { Control, type Fault, type RequestFilter, type Snapshot } from './control/control.ts'
import { runningControllers, settled } from './settled.ts'
import { type TestLifetime, type TestNamespace, testNamespace } from './test-namespace.ts'
import { type TestUser, testUser, writeKubeconfig } from './test-user.ts'
import { TestTraces } from './traces/test-traces.ts'
import { type TraceMode, type TraceSettings, traceSettings } from './traces/trace-option.ts'
import type { TraceableTest, VitestContext } from './traces/traceable-test.ts'
import { type WaitForOptions, type WaitTarget, waitForObject } from './waiting/wait-for-object.ts'

/** A cluster with the tools of tests: manifests, waits, namespaces, users, faults, snapshots. */
export interface TestCluster extends Omit<Cluster, 'user'>, AsyncDisposable {
  /** The administrator's client: its requests are logged, and faults hit them. */
  readonly api: Client
  /** The same for objects of any kind. */
  readonly dynamic: DynamicClient
  /**
   * Applies manifests by server-side apply: text, files, folders or objects, custom resources with their definitions
   * included. Faults do not hit these requests.
   * @example await cluster.apply('deploy/operator.yaml')
   */
  apply(manifests: Manifests, options?: ApplyManifestsOptions): Promise<readonly Unstructured[]>
  /**
   * Waits for a condition by a watch, and resolves with the object; with undefined for `delete`.
   * @example await cluster.waitFor('deployment/web', 'Available', { timeoutMs: 5000 })
   */
  waitFor(target: WaitTarget, condition: WaitCondition, options?: WaitForOptions): Promise<Unstructured | undefined>
  /**
   * Creates a namespace, which is deleted after the test that is given, or by `await using`.
   * @example const namespace = await cluster.namespace(t)
   */
  namespace(test?: TestLifetime): Promise<TestNamespace>
  /** Creates a user with a client certificate, whose rights are those of roles and bindings. */
  user(identity: UserIdentity): Promise<TestUser>
  /** Writes the administrator's kubeconfig to a file that only its owner can read (mode 0600). */
  writeKubeconfig(path: string): void
  /**
   * The latest requests that match, oldest first, without those of `apply`, `waitFor` and `namespace`.
   * @example assert.equal((await cluster.requests({ verb: 'patch', resource: 'deployments' })).length, 1)
   */
  requests(filter?: RequestFilter): Promise<readonly LoggedRequest[]>
  /** Forgets the requests up to now. */
  clearRequests(): Promise<void>
  /**
   * Lets requests fail, or delays them. Without `user` or `userAgent`, it spares controllers, scheduler and nodes.
   * @example await cluster.fault({ verb: 'update', resource: 'deployments', code: 409, times: 2 })
   */
  fault(rule: FaultRule): Promise<Fault>
  /** Removes all faults. */
  clearFaults(): Promise<void>
  /** Breaks the connections of running watches, and resolves with their number. */
  dropWatches(match?: RequestMatch): Promise<number>
  /** Ends running watches by an ERROR event 410 Expired, after which clients list again. Resolves with their number. */
  expireWatches(match?: RequestMatch): Promise<number>
  /** Remembers all objects. */
  snapshot(): Promise<Snapshot>
  /**
   * Brings back the objects of a snapshot, and deletes others. Revisions go on; watches get an event for every change.
   * Resolves with the number of changes.
   */
  restore(snapshot: Snapshot): Promise<number>
  /**
   * Brings back the objects of the start, removes faults and forgets requests. Then begins the trace of the test that
   * is given, if the option `trace` asks for one.
   * @example beforeEach((t) => cluster.reset(t))
   */
  reset(test?: TraceableTest | VitestContext): Promise<void>
  /**
   * Begins the trace of a test, if the option `trace` asks for one: for tests that do not call `reset`.
   * @example beforeEach((t) => cluster.trace(t))
   */
  trace(test: TraceableTest | VitestContext): Promise<void>
}

/** The options of `startTestCluster`: those of `startCluster`, and traces. */
export interface TestClusterOptions extends Omit<ClusterOptions, 'testControl'> {
  /**
   * Writes a trace of each test, or of each failed one: an HTML file with requests, versions of objects, and the
   * reasons for which pods wait. Default: `off`.
   */
  readonly trace?: TraceMode | TraceSettings
}

/**
 * Starts a cluster in memory, or with the given options, and resolves when it and its controllers are ready.
 * @example
 * await using cluster = await startTestCluster({ nodes: 1, scheduler: true })
 * await cluster.apply('deploy/')
 * await cluster.waitFor('deployment/web', 'Available')
 */
export async function startTestCluster(given: TestClusterOptions = {}): Promise<TestCluster> {
  const { trace, ...options } = given
  const settings = traceSettings(trace)
  const lifetime = new Lifetime()
  const cluster = await startCluster({ ...options, testControl: true })
  lifetime.onEnd((graceMs) => cluster.stop({ graceMs }))
  try {
    const api = await connectTo({ access: cluster.client })
    lifetime.onEnd(() => api.close())
    const kit = await connectTo({ access: { ...cluster.client, userAgent: testKitAgent } })
    lifetime.onEnd(() => kit.close())
    const control = new Control(kit)
    await cluster.synced
    await settled(kit, options)
    const initial = await control.snapshot()
    const traces = new TestTraces(control, settings)
    lifetime.onEnd(() => traces.endPending())
    return testClusterOf({ cluster, options, api, kit, control, traces, initial, lifetime })
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

interface Parts {
  readonly cluster: Cluster
  readonly options: ClusterOptions
  readonly api: Client
  readonly kit: Client
  readonly control: Control
  readonly traces: TestTraces
  readonly initial: Snapshot
  readonly lifetime: Lifetime
}

function testClusterOf({ cluster, options, api, kit, control, traces, initial, lifetime }: Parts): TestCluster {
  const dynamic = new DynamicClient(kit)
  const ofApi = new DynamicClient(api)
  let stopped: Promise<void> | undefined
  const stop: Cluster['stop'] = ({ graceMs = defaultGraceMs } = {}) => (stopped ??= lifetime.end(graceMs))
  /** Definitions of custom resources may have changed. */
  const restore = async (snapshot: Snapshot): Promise<number> => {
    const changes = await control.restore(snapshot)
    for (const { mapper } of [dynamic, ofApi]) mapper.invalidate()
    return changes
  }
  return {
    ...cluster,
    api,
    dynamic: ofApi,
    apply: (manifests, applyOptions) => applyManifests(dynamic, manifests, applyOptions),
    waitFor: (target, condition, waitOptions) => waitForObject(dynamic, target, condition, waitOptions),
    async namespace(test) {
      const namespace = await testNamespace(dynamic, runningControllers(options))
      test?.after(() => namespace.delete())
      return namespace
    },
    async user(identity) {
      const user = await testUser(await cluster.user(identity))
      lifetime.onEnd(() => user.api.close())
      return user
    },
    writeKubeconfig: (path) => writeKubeconfig(path, cluster.kubeconfigYaml),
    requests: (filter = {}) => control.requests(filter),
    clearRequests: () => control.clearRequests(),
    fault: (rule) => control.fault(rule),
    clearFaults: () => control.clearFaults(),
    dropWatches: (match = {}) => control.endWatches(match, 'drop'),
    expireWatches: (match = {}) => control.endWatches(match, 'expire'),
    snapshot: () => control.snapshot(),
    restore,
    async reset(test) {
      await traces.endPending()
      await control.clearFaults()
      await restore(initial)
      await control.clearRequests()
      if (test) await traces.begin(test)
    },
    trace: (test) => traces.begin(test),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  }
}

const defaultGraceMs = 5000
