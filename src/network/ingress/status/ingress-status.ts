/** Writes the addresses of the proxy into the status of Ingresses, and records events about what it ignores. */
import { isIP } from 'node:net'
import type { Controller } from '../../../client/controller/controller.ts'
import { watch } from '../../../client/controller/controller.ts'
import { type Ingress, ingressClasses, ingresses } from '../../../client/kinds.ts'
import { updateStatus } from '../../../client/objects/create-or-update.ts'
import { isServed, resourceBackends } from '../picture/ingress-routes.ts'

type LoadBalancer = NonNullable<NonNullable<Ingress['status']>['loadBalancer']>

export interface IngressStatusOptions {
  /** Addresses and names at which the proxy is reached. */
  readonly addresses: readonly string[]
  /** Faults of an Ingress that depend on other objects, such as Secrets: sentences. */
  readonly faults: (ingress: Ingress) => readonly string[]
  /** Called once with a function that requeues an Ingress, `NAMESPACE/NAME`, after its faults may have changed. */
  readonly started: (requeue: (key: string) => void) => void
}

/** Writes nothing to Ingresses of other controllers, and leaves the status of those that changed their class alone. */
export function ingressStatusController({ addresses, faults, started }: IngressStatusOptions): Controller {
  const loadBalancer: LoadBalancer = {
    ingress: addresses.map((address) => (isIP(address) ? { ip: address } : { hostname: address })),
  }
  /** The last recorded faults, by UID of the Ingress. */
  const recorded = new Map<string, string>()
  return {
    name: 't8s-ingress',
    watches: [
      watch({
        resource: ingresses,
        onChange: (ingress, old) => void (ingress || recorded.delete(old?.metadata.uid ?? '')),
      }),
      // A class may be created after its Ingresses.
      watch({
        resource: ingressClasses,
        keys: (_, caches) => [...caches.all(ingresses)].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
      }),
    ],
    async run({ requeue }) {
      started((key) => requeue(key))
    },
    async reconcile(key, { caches, client, events }) {
      const [namespace = '', name = ''] = key.split('/')
      const ingress = caches.get(ingresses, namespace, name)
      if (!ingress || !isServed(ingress, (one) => caches.get(ingressClasses, '', one))) return
      await updateStatus(client, ingresses, { namespace, name }, (current) => ({
        ...current,
        status: { ...current.status, loadBalancer },
      }))
      const found = [
        ...resourceBackends(ingress).map((one) => `${one} is not a Service and is ignored: use a Service`),
        ...faults(ingress),
      ]
      const uid = ingress.metadata.uid ?? ''
      if ((recorded.get(uid) ?? '') === found.join('\n')) return
      recorded.set(uid, found.join('\n'))
      for (const fault of found) events.record(ingress, 'Warning', 'Ignored', fault)
    },
  }
}
