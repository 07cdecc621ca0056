/** Leases: locks and heartbeats with a holder and an expiry. Heartbeats of nodes are most of a cluster's writes. */
import type { V1Lease } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField } from '../../machinery/validation/field-error.ts'
import { all, follows, nonNegative, oneOf, positive, valid } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'

type Lease = Model<V1Lease>

export const oldestEmulationVersion = 'OldestEmulationVersion'

export const leases = resource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  createOnUpdate: true,
  requiresVersionOnUpdate: true,
  defaults: [
    (lease) => {
      lease.spec ??= {}
    },
  ],
  validate: { object: leaseRules },
  columns: [
    name,
    column('Holder', ({ spec }) => spec?.holderIdentity ?? '', { description: 'The holder of the lease.' }),
    age,
  ],
})

function leaseRules({ spec = {} }: Lease): readonly FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = spec
  return all(
    positive(leaseDurationSeconds, 'spec.leaseDurationSeconds'),
    nonNegative(leaseTransitions, 'spec.leaseTransitions'),
    strategyRules(strategy, 'spec.strategy'),
    preferredHolder && !strategy
      ? [forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined')]
      : valid,
  )
}

/** Validates a strategy: a known one, or a custom one with a slash. Upstream's path has `strategy` twice. */
export const strategyRules = (strategy: string | undefined, path: string): readonly FieldError[] =>
  strategy?.includes('/')
    ? follows(strategy, `${path}.strategy`, qualifiedName)
    : oneOf(strategy, `${path}.strategy`, [oldestEmulationVersion])
