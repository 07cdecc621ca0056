/**
 * The objects that configure flow control: reads them, maintains the server's own, and sets their status. A change
 * takes effect immediately; the server's own objects are checked once a minute.
 */
import type { FlowSchema, PriorityLevelConfiguration } from '../../../api/flowcontrol/bootstrap-objects.ts'
import { Informer } from '../../registry/informer.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import type { Levels } from '../levels.ts'
import { danglingCondition, writeCondition } from './dangling.ts'
import { maintainObjects } from './maintain.ts'

const maintainEveryMs = 60_000

export interface FlowObjectsOptions {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
  readonly writer: Writer
  readonly levels: Levels
  readonly log: (line: string) => void
}

export class FlowObjects {
  readonly #options: FlowObjectsOptions
  readonly #schemas: Informer<FlowSchema>
  readonly #levels: Informer<PriorityLevelConfiguration>
  readonly #schemaResource: ServedResource
  readonly #levelResource: ServedResource
  readonly #writing = new Set<string>()
  /** True if all objects have been read, and the server's own exist: before, levels may seem to be missing. */
  #isComplete = false
  #scheduled = false
  #stopped = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: FlowObjectsOptions) {
    const { registry, find, log } = options
    this.#options = options
    this.#schemaResource = find('flowcontrol.apiserver.k8s.io/v1/flowschemas')
    this.#levelResource = find('flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations')
    const changed = (): void => this.#schedule()
    this.#schemas = new Informer<FlowSchema>({ registry, resource: this.#schemaResource, changed, log })
    this.#levels = new Informer<PriorityLevelConfiguration>({
      registry,
      resource: this.#levelResource,
      changed,
      log,
    })
  }

  /** Resolves when the server's own objects exist and all objects have taken effect. */
  async start(): Promise<void> {
    await Promise.all([this.#schemas.start(), this.#levels.start()])
    await this.#maintain()
    this.#isComplete = true
    this.#configure()
    this.#timer = setInterval(() => {
      this.#maintain().catch((error) =>
        this.#options.log(`flow schemas and priority levels cannot be maintained: ${error}`),
      )
    }, maintainEveryMs).unref()
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
    this.#schemas.stop()
    this.#levels.stop()
  }

  #maintain(): Promise<void> {
    return maintainObjects({
      schemas: { resource: this.#schemaResource, informer: this.#schemas },
      levels: { resource: this.#levelResource, informer: this.#levels },
      writer: this.#options.writer,
    })
  }

  /** Applies changes that arrive together in one step. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      if (!this.#stopped) this.#configure()
    })
  }

  #configure(): void {
    const { levels } = this.#options
    levels.configure(this.#schemas.all(), this.#levels.all())
    if (this.#isComplete) for (const schema of this.#schemas.all()) this.#updateStatus(schema)
  }

  /** One write per schema at a time: the resulting change triggers the next. */
  #updateStatus(schema: FlowSchema): void {
    const { levels, writer, log } = this.#options
    const name = schema.metadata.name!
    if (this.#writing.has(name)) return
    const condition = danglingCondition(
      schema,
      levels.has(schema.spec?.priorityLevelConfiguration.name ?? ''),
      writer.now(),
    )
    if (!condition) return
    this.#writing.add(name)
    writeCondition(writer, this.#schemaResource, name, condition)
      .catch((error) => log(`the status of the FlowSchema ${name} cannot be written: ${error}`))
      .finally(() => {
        this.#writing.delete(name)
        // It may have changed again in the meantime.
        const now = this.#schemas.get('', name)
        if (now && now !== schema) this.#schedule()
      })
  }
}
