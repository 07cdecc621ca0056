/**
 * Leases by which the API servers of a cluster are known (KEP-1965): each server renews its own, and removes those of
 * servers that have not renewed theirs for an hour.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { every } from '../../lib/clock/clock.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { microTimestamp } from '../../machinery/values/timestamp.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { createObject } from '../registry/write/create-object.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { serverId } from './server-id.ts'

const namespace = 'kube-system'
const label = 'apiserver.kubernetes.io/identity'
const identity = 'kube-apiserver'
const durationSeconds = 3600
const renewMs = 10_000
const removeMs = 3_600_000

export interface IdentityLeasesOptions {
  readonly leases: ServedResource
  readonly writer: Writer
  readonly log: (line: string) => void
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly renewTime?: string
}

/** Renews and removes until the returned function is called. The Lease stays, as upstream's does. */
export function keepIdentityLease(options: IdentityLeasesOptions): () => void {
  const leases = new IdentityLeases(options)
  const { clock } = options.writer.registry
  void leases.renew()
  const timers = [
    every(clock, renewMs, () => void leases.renew()),
    every(clock, removeMs, () => void leases.removeExpired()),
  ]
  void leases.removeExpired()
  return () => {
    for (const timer of timers) timer.cancel()
    leases.isEnded = true
  }
}

class IdentityLeases {
  readonly #options: IdentityLeasesOptions
  readonly #hostname = hostname()
  readonly #name = serverId(this.#hostname)
  readonly #holder = `${this.#name}_${randomUUID()}`
  isEnded = false

  constructor(options: IdentityLeasesOptions) {
    this.#options = options
  }

  async renew(): Promise<void> {
    const { writer, leases } = this.#options
    const place = { ...writer, resource: leases, namespace, name: this.#name, subresource: '' }
    await this.#try('renewed', async () => {
      const lease = this.#lease()
      const live = await writer.registry.newest(leases, leases.key(namespace, this.#name))
      if (!live) await createObject(place, lease)
      else
        await updateObject(place, { startsFromLive: true, change: (object) => ({ object: renewed(object!, lease) }) })
    })
  }

  /** Removes the Leases of servers that are gone. Other servers do the same at the same time. */
  async removeExpired(): Promise<void> {
    const { writer, leases } = this.#options
    await this.#try('removed', async () => {
      const { objects } = await writer.registry.cacher(leases).consistent()
      for (const stored of objects.slice(leases.range(namespace))) {
        const { metadata, spec } = stored.parse<Unstructured>()
        if (
          metadata.labels?.[label] !== identity ||
          !isExpired(spec as LeaseSpec | undefined, writer.registry.clock.now())
        )
          continue
        const place = { ...writer, resource: leases, namespace, name: metadata.name!, subresource: '' }
        const preconditions = { resourceVersion: metadata.resourceVersion! }
        await deleteObject(place, { dryRun: false, preconditions })
      }
    })
  }

  async #try(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      if (this.isEnded || (error instanceof StatusError && [404, 409].includes(error.code))) return
      this.#options.log(`the Lease of this API server's identity cannot be ${what}: ${(error as Error).message}`)
    }
  }

  #lease(): Unstructured {
    return {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: {
        name: this.#name,
        namespace,
        labels: { [label]: identity, 'kubernetes.io/hostname': this.#hostname },
      },
      spec: {
        holderIdentity: this.#holder,
        leaseDurationSeconds: durationSeconds,
        renewTime: microTimestamp(this.#options.writer.registry.clock.now()),
      },
    }
  }
}

function renewed(live: KubeObject, { metadata, spec }: Unstructured): KubeObject {
  const labels = { ...live.metadata.labels, ...metadata.labels }
  return { ...live, metadata: { ...live.metadata, labels }, spec } as KubeObject
}

/** True if a lease is incomplete, or was not renewed in time. `now` in ms since 1970. */
export function isExpired(spec: LeaseSpec | undefined, now: number): boolean {
  const { holderIdentity, leaseDurationSeconds, renewTime } = spec ?? {}
  if (!holderIdentity || leaseDurationSeconds === undefined || !renewTime) return true
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < now
}
