/**
 * Watches the policies of administrators while their definitions are installed, which may be at any time. Nothing fails
 * without them.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { FailureLog } from '../../client/controller/failure-log.ts'
import { Informer } from '../../client/informers/informer.ts'
import { type CustomResourceDefinition, customResourceDefinitions } from '../../client/kinds.ts'
import { nameSelector, type Resource } from '../../client/resource.ts'
import { isAuthorizationDenied } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type AdminPolicy, adminPolicyOf } from './picture/admin/admin-policy.ts'
import { type AdminPolicyObject, adminPolicyGroup, adminPolicyKinds } from './picture/admin/kinds.ts'

/** `policy` is undefined after a deletion; `title` is that of the policy. */
type AdminPolicyHandler = (title: string, policy: AdminPolicy | undefined) => void

/** A kind whose definition is installed. */
interface Running {
  readonly stopping: AbortController
  readonly informer: Informer<AdminPolicyObject>
}

/** Until rights are checked again: those of a new cluster may be granted later than this starts. */
const firstMs = [0, 500, 1000] as const
const deniedMs = 60_000

export class AdminPolicyWatches {
  readonly #client: RestClient
  readonly #changed: AdminPolicyHandler
  readonly #log: (line: string) => void
  readonly #failures: FailureLog
  /** By plural. */
  readonly #running = new Map<string, Running>()
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>[] = []
  /** First lists that are not complete. */
  readonly #pending = new Set<Promise<void>>()
  /** Logged problems by title. */
  readonly #problems = new Map<string, string>()

  constructor(client: RestClient, changed: AdminPolicyHandler, log: (line: string) => void) {
    this.#client = client
    this.#changed = changed
    this.#log = log
    this.#failures = new FailureLog(log)
  }

  start(): void {
    this.#ended.push(this.#pend(this.#watchDefinitions()))
  }

  /** Resolves when all policies are known, or cannot be read. */
  async synced(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const { stopping } of this.#running.values()) stopping.abort()
    await Promise.all(this.#ended)
  }

  async #watchDefinitions(): Promise<void> {
    for (const waitMs of firstMs) {
      await this.#wait(waitMs)
      if (!(await this.#mayRead())) continue
      this.#startDefinitions()
      return
    }
    this.#log(
      'policies of administrators (AdminNetworkPolicy, ClusterNetworkPolicy) are not read: the user may not list ' +
        'and watch their customresourcedefinitions; NetworkPolicies are in effect',
    )
    this.#ended.push(this.#waitForRights())
  }

  async #waitForRights(): Promise<void> {
    const { signal } = this.#stopping
    do await this.#wait(deniedMs)
    while (!signal.aborted && !(await this.#mayRead()))
    if (!signal.aborted) this.#startDefinitions()
  }

  #wait(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {})
  }

  /** False only if the server denies it. */
  async #mayRead(): Promise<boolean> {
    const [kind] = adminPolicyKinds
    try {
      await this.#client.list(customResourceDefinitions, { fieldSelector: selectorOf(kind), limit: 1 })
      return true
    } catch (error) {
      return !isAuthorizationDenied(error)
    }
  }

  #startDefinitions(): void {
    for (const kind of adminPolicyKinds) {
      const informer = new Informer<CustomResourceDefinition>({
        client: this.#client,
        resource: customResourceDefinitions,
        fieldSelector: selectorOf(kind),
        transform: withoutSchemas,
        log: this.#log,
        failures: this.#failures,
      })
      informer.onChange((definition) => this.#follow(kind, definition))
      this.#run(informer, this.#stopping.signal)
    }
  }

  #run(informer: Pick<Informer<CustomResourceDefinition>, 'run'>, signal: AbortSignal): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    void this.#pend(promise)
    this.#ended.push(informer.run(signal, resolve).then(resolve))
  }

  #pend(promise: Promise<void>): Promise<void> {
    this.#pending.add(promise)
    return promise.finally(() => this.#pending.delete(promise))
  }

  #follow(kind: Resource<AdminPolicyObject>, definition: CustomResourceDefinition | undefined): void {
    if (this.#stopping.signal.aborted) return
    // Deleted definitions take their objects with them.
    const isKnown = definition !== undefined && definition.metadata.deletionTimestamp === undefined
    const isInstalled = isKnown && isServed(definition, kind.version)
    if (isKnown && !isInstalled && isServed(definition, undefined))
      this.#log(`${kind.kind}: the installed definition does not have the version ${kind.version}, so it has no effect`)
    const running = this.#running.get(kind.plural)
    if (isInstalled === (running !== undefined)) return
    if (running) this.#end(kind, running)
    else this.#watch(kind)
  }

  #watch(kind: Resource<AdminPolicyObject>): void {
    const informer = new Informer<AdminPolicyObject>({
      client: this.#client,
      resource: kind,
      log: this.#log,
      failures: this.#failures,
    })
    const running = { informer, stopping: new AbortController() }
    this.#running.set(kind.plural, running)
    informer.onChange((object, old) => {
      if (this.#running.get(kind.plural) !== running) return
      const policy = object && adminPolicyOf(kind, object)
      const title = policy?.title ?? titleOf(kind, old)
      this.#logProblems(title, policy)
      this.#changed(title, policy)
    })
    this.#run(informer, running.stopping.signal)
  }

  /** Its policies have no effect any more. */
  #end(kind: Resource<AdminPolicyObject>, { informer, stopping }: Running): void {
    this.#running.delete(kind.plural)
    stopping.abort()
    for (const object of informer.all()) this.#changed(titleOf(kind, object), undefined)
  }

  #logProblems(title: string, policy: AdminPolicy | undefined): void {
    const problems = policy?.problems.join('; ') ?? ''
    if (problems !== '' && problems !== this.#problems.get(title)) this.#log(`${title}: ${problems}`)
    if (problems === '') this.#problems.delete(title)
    else this.#problems.set(title, problems)
  }
}

const titleOf = ({ kind }: Resource, object: AdminPolicyObject | undefined): string =>
  `${kind} ${object?.metadata.name ?? ''}`

const selectorOf = ({ plural }: Resource): string => nameSelector(`${plural}.${adminPolicyGroup}`)

/** True if the version is served; undefined: any one. */
const isServed = ({ spec, status }: CustomResourceDefinition, version: string | undefined): boolean =>
  (status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') ?? false) &&
  spec.versions.some(({ name, served }) => served && (version === undefined || name === version))

/** Schemas are large, and not needed. */
function withoutSchemas({ apiVersion, kind, metadata, spec, status }: CustomResourceDefinition) {
  const { name, resourceVersion, deletionTimestamp } = metadata
  const versions = spec.versions.map(({ name: version, served, storage }) => ({ name: version, served, storage }))
  return {
    apiVersion,
    kind,
    metadata: { name, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { ...spec, versions },
    status,
  }
}
