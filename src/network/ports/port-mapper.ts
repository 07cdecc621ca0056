/** Brings the mappings of ports into effect on this machine, and reports in their ConfigMap how they are. */
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { configMaps } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { errorCode } from '../../lib/explained-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import { Forwarder } from '../forwarder/forwarder.ts'
import { type Listener, listenerKey } from '../forwarder/listener.ts'
import { MappedService } from './mapped-service.ts'
import { mappingsIn, mappingsObject, statusAnnotation, statusesIn } from './mapping-object.ts'
import { hostText, mappingForm, type PortMapping } from './port-mapping.ts'

/** A port of the machine outside of the user namespaces of this process. */
export interface OuterPort {
  close(): void
}

export interface PortMapperOptions {
  readonly server: ServerAccess
  /** Opens a port of the machine that leads to the same one of this process. Undefined: they share a network. */
  readonly publish: ((mapping: PortMapping) => Promise<OuterPort>) | undefined
  readonly log: (line: string) => void
}

interface Wanted {
  readonly text: string
  readonly mapping: PortMapping
  readonly listener: Listener
}

/** Ports that others have are tried again after this time in ms, as are failed reports. */
const retryMs = 5_000

export class PortMapper {
  readonly #options: PortMapperOptions
  readonly #connection: Connection
  readonly #client: RestClient
  readonly #informers: SharedInformers
  readonly #services = new Map<string, MappedService>()
  /** Keys of listeners. */
  readonly #open = new Set<string>()
  readonly #outer = new Map<string, OuterPort>()
  #logged: ReadonlyMap<string, string> = new Map()
  #forwarder: Forwarder | undefined
  #syncing: Promise<void> = Promise.resolve()
  #isQueued = false
  #retry: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: PortMapperOptions) {
    this.#options = options
    this.#connection = new Connection({ ...options.server, userAgent: 't8s-ports' })
    this.#client = new RestClient(this.#connection)
    this.#informers = new SharedInformers(this.#client, options.log)
  }

  /** Starts in the background. */
  start(): void {
    this.#mappings.onChange(() => this.#request())
  }

  /** Closes all ports and their connections. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retry)
    await this.#syncing
    await this.#informers.stop()
    for (const service of this.#services.values()) await service.stop()
    for (const port of this.#outer.values()) port.close()
    await this.#forwarder?.stop()
    this.#connection.close()
  }

  get #mappings() {
    const { namespace, name } = mappingsObject
    return this.#informers.of(configMaps, { namespace, fieldSelector: `metadata.name=${name}` })
  }

  /** Changes during a sync are one more sync. */
  #request(): void {
    if (this.#isQueued || this.#isStopped) return
    this.#isQueued = true
    this.#syncing = this.#syncing.then(async () => {
      this.#isQueued = false
      try {
        if (!this.#isStopped) await this.#sync()
      } catch (error) {
        this.#options.log(`mapped ports do not work: ${messageOf(error)}`)
        this.#retryLater()
      }
    })
  }

  #retryLater(): void {
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#request(), retryMs).unref()
  }

  async #sync(): Promise<void> {
    const mappings = mappingsIn(this.#mappings.get(mappingsObject.namespace, mappingsObject.name))
    await this.#follow([...mappings.values()].filter((mapping) => mapping !== undefined))
    const statuses = new Map<string, string>()
    const wanted = new Map<string, Wanted>()
    for (const [text, mapping] of mappings) {
      if (!mapping) statuses.set(text, `this is no mapping: write ${mappingForm}`)
      const found = mapping && this.#services.get(serviceKey(mapping))?.targetsOf(mapping)
      if (!mapping || !found) continue
      statuses.set(text, found.status)
      const listener = listenerOf(mapping, found.targets)
      wanted.set(listenerKey(listener), { text, mapping, listener })
    }
    for (const [key, status] of [...(await this.#listen(wanted)), ...(await this.#publish(wanted))])
      statuses.set(wanted.get(key)!.text, status)
    this.#log(statuses)
    await this.#report(statuses)
  }

  /** Watches the Services of mappings, and no others. */
  async #follow(mappings: readonly PortMapping[]): Promise<void> {
    for (const [key, service] of this.#services)
      if (!mappings.some(service.isOf)) {
        this.#services.delete(key)
        await service.stop()
      }
    for (const mapping of mappings) {
      const key = serviceKey(mapping)
      if (!this.#services.has(key))
        this.#services.set(key, new MappedService(mapping, this.#client, () => this.#request(), this.#options.log))
    }
  }

  /** Returns the reasons of ports that cannot be opened. */
  async #listen(wanted: ReadonlyMap<string, Wanted>): Promise<ReadonlyMap<string, string>> {
    const removed = [...this.#open].filter((key) => !wanted.has(key))
    if (wanted.size === 0 && removed.length === 0) return new Map()
    for (const key of removed) this.#open.delete(key)
    for (const key of wanted.keys()) this.#open.add(key)
    this.#forwarder ??= new Forwarder()
    const listeners = [...wanted.values()].map(({ listener }) => listener)
    const failures = await this.#forwarder.set(listeners, removed)
    for (const { key } of failures) this.#open.delete(key)
    if (failures.length > 0) this.#retryLater()
    return new Map(failures.map(({ key, code }) => [key, reasonOf(code)]))
  }

  /** The same for ports of the machine, if this process has other ones. */
  async #publish(wanted: ReadonlyMap<string, Wanted>): Promise<ReadonlyMap<string, string>> {
    const failed = new Map<string, string>()
    const { publish } = this.#options
    if (!publish) return failed
    for (const [key, port] of this.#outer)
      if (!this.#open.has(key)) {
        port.close()
        this.#outer.delete(key)
      }
    for (const [key, { mapping }] of wanted) {
      if (!this.#open.has(key) || this.#outer.has(key)) continue
      if (mapping.protocol === 'UDP') failed.set(key, 'closed, as UDP ports of the machine need root: use sudo t8s up')
      else
        try {
          this.#outer.set(key, await publish(mapping))
        } catch (error) {
          failed.set(key, reasonOf(errorCode(error) ?? messageOf(error)))
          this.#retryLater()
        }
    }
    return failed
  }

  #log(statuses: ReadonlyMap<string, string>): void {
    const { log } = this.#options
    for (const [text, status] of statuses) if (this.#logged.get(text) !== status) log(`port ${text}: ${status}`)
    for (const text of this.#logged.keys()) if (!statuses.has(text)) log(`port ${text}: removed`)
    this.#logged = statuses
  }

  async #report(statuses: ReadonlyMap<string, string>): Promise<void> {
    const { namespace, name } = mappingsObject
    const object = this.#mappings.get(namespace, name)
    const text = JSON.stringify(Object.fromEntries(statuses))
    if (!object || text === JSON.stringify(Object.fromEntries(statusesIn(object)))) return
    const annotations = { [statusAnnotation]: text }
    await this.#client.patch(configMaps, namespace, name, { metadata: { annotations } }, 'merge')
  }
}

const serviceKey = ({ namespace, service }: PortMapping): string => `${namespace}/${service}`

const listenerOf = (mapping: PortMapping, targets: Listener['targets']): Listener => ({
  protocol: mapping.protocol,
  address: mapping.address,
  port: mapping.hostPort,
  group: `${hostText(mapping)} ${mapping.protocol}`,
  targets,
})

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has this port: stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'ports below 1024 need root: choose a higher one',
}

const reasonOf = (code: string): string => `closed, as ${reasons[code] ?? code}`
