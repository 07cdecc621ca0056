/** Writes of Services on a store in memory, with the allocation of addresses and ports. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Service, ServiceSpec } from '../../api/core/service/index.ts'
import { allResources } from '../../api/registry.ts'
import { resourceKey } from '../../api/resource.ts'
import type { Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import type { Store } from '../../storage/store.ts'
import { AdmissionChain } from '../admission/admission-chain.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'
import { Registry } from '../registry/registry.ts'
import type { Admission } from '../registry/write/admission.ts'
import { createObject } from '../registry/write/create-object.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import { timestamp, type WriteContext } from '../registry/write/write-context.ts'
import { type ServiceAllocation, type ServiceAllocationOptions, serviceAllocation } from './index.ts'

type GivenSpec = Partial<ServiceSpec>
type Options = Partial<ServiceAllocationOptions> & {
  readonly store?: Store
  readonly plugins?: readonly AdmissionPlugin[]
}

/** Writes Services as an API server does. */
export class ServiceWriter {
  readonly registry: Registry
  readonly allocation: ServiceAllocation
  readonly logged: string[] = []
  readonly #admission: Admission

  constructor(t: TestContext, { store = memoryStore(), plugins = [], ...options }: Options = {}) {
    this.registry = new Registry(store, allResources)
    t.after(() => this.registry.stop())
    this.#admission = new AdmissionChain(plugins)
    this.allocation = serviceAllocation({
      registry: this.registry,
      find: this.find,
      log: (line) => this.logged.push(line),
      ...options,
    })
  }

  find = (key: string) => this.registry.served(allResources.find((definition) => resourceKey(definition) === key)!)

  context(name: string, dryRun = false): WriteContext {
    const options = { dryRun, fieldManager: '', fieldValidation: 'Ignore', force: false } as const
    const place = {
      registry: this.registry,
      admission: this.#admission,
      resource: this.find('v1/services'),
      namespace: 'ns',
      name,
      subresource: '',
    }
    return {
      ...place,
      user: { name: 'me', groups: [] },
      manager: 'test',
      options,
      warnings: [],
      annotate: () => {},
      now: () => timestamp(Date.now()),
      pause: () => undefined,
    }
  }

  async create(name: string, spec: GivenSpec = {}, dryRun = false): Promise<Service> {
    const object = {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...structuredClone(spec) },
    } as Unstructured
    this.find('v1/services').applyDefaults(object)
    return (await createObject(this.context(name, dryRun), object)).parse<Service>()
  }

  /** Merges fields into the spec; undefined removes one. */
  async change(name: string, spec: GivenSpec, dryRun = false): Promise<Service> {
    const { object } = await updateObject(this.context(name, dryRun), {
      startsFromLive: true,
      change: (live) => {
        const object = JSON.parse(JSON.stringify({ ...live, spec: { ...(live as Service).spec, ...spec } }))
        this.find('v1/services').applyDefaults(object)
        return { object }
      },
    })
    return object.parse<Service>()
  }

  remove = (name: string, dryRun = false) => deleteObject(this.context(name, dryRun), { dryRun })

  /** Names of all IPAddresses. */
  async addresses(): Promise<string[]> {
    const resource = this.find('networking.k8s.io/v1/ipaddresses')
    const { objects } = await this.registry.cacher(resource).ready()
    return objects.slice(resource.range('')).map(({ name }) => name)
  }
}

/** Returns the causes of a rejected write, without the dump of the value. */
export async function faultsOf(write: Promise<unknown>): Promise<string> {
  const error = await write.then(
    () => assert.fail('the write was not rejected'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError, String(error))
  const causes = error.status.details?.causes ?? []
  return causes
    .map(({ field, message = '' }) => `${field ? `${field}: ` : ''}${message.replace(/^Invalid value: .*?: /, '')}`)
    .join('; ')
}

export const ip = ({ spec }: Service): string => spec?.clusterIP ?? ''
export const nodePorts = ({ spec }: Service): number[] => (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0)
