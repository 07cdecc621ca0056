/** Ingresses: rules that route external HTTP traffic to Services. */
import type { V1Ingress, V1IngressSpec } from '@kubernetes/client-node'
import type { Model, Wire } from '../../machinery/object.ts'
import { age, column, name, resource } from '../resource.ts'
import { classAnnotation, ingressRules, ingressStatusRules } from './ingress-rules.ts'

type Ingress = Model<V1Ingress>
type Spec = Wire<V1IngressSpec> | undefined

export const ingresses = resource<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  shortNames: ['ing'],
  scope: 'Namespaced',
  storagePath: 'ingress',
  subresources: { status: true },
  generation: 'spec',
  prepare: {
    create: (ingress) => {
      ingress.status = { loadBalancer: {} }
    },
  },
  validate: { object: ingressRules, status: ({ status }) => ingressStatusRules(status) },
  warnings: ({ metadata }, old) =>
    !old && metadata.annotations?.[classAnnotation] !== undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  columns: [
    name,
    column('Class', ({ spec }) => spec?.ingressClassName ?? '<none>', {
      description: 'The IngressClass.',
    }),
    column('Hosts', ({ spec }) => hosts(spec), { description: 'The host names of its rules.' }),
    column('Address', ({ status }) => addresses(status), { description: 'The addresses of the load balancer.' }),
    column('Ports', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80'), {
      description: 'The ports of the load balancer.',
    }),
    age,
  ],
})

const shownHosts = 3

/** Shows up to three hosts. After the third, every further rule counts, with or without a host. */
function hosts(spec: Spec): string {
  const rules = spec?.rules ?? []
  const named = rules.flatMap(({ host }, i) => (host ? [{ host, i }] : [])).slice(0, shownHosts)
  const shown = named.map(({ host }) => host).join(',') || '*'
  const last = named[shownHosts - 1]
  return last && last.i < rules.length - 1 ? `${shown} + ${rules.length - shownHosts} more...` : shown
}

function addresses(status: Ingress['status']): string {
  const found = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) =>
    ip ? [ip] : hostname ? [hostname] : [],
  )
  return [...new Set(found)].sort().join(',')
}
