/** Leases: who holds something, and until when. Created by PUT too; heartbeats of nodes are most of all writes. */
import type { V1Lease } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { nonNegative, oneOf, positive } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'

type Lease = Model<V1Lease>

export const strategies = ['OldestEmulationVersion']

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
  columns: [name, column('Holder', ({ spec }) => spec?.holderIdentity ?? '', { description: 'Who holds it.' }), age],
})

function leaseRules({ spec = {} }: Lease): readonly FieldError[] {
  const errors = [...positive(spec.leaseDurationSeconds, 'spec.leaseDurationSeconds'), ...nonNegative(spec.leaseTransitions, 'spec.leaseTransitions')]
  if (spec.strategy !== undefined)
    errors.push(...(strategies.includes(spec.strategy) || spec.strategy.includes('/') ? [] : oneOf(spec.strategy, 'spec.strategy', strategies)))
  if (spec.preferredHolder) {
    if (!spec.strategy) errors.push(required('spec.strategy', 'strategy must be specified when preferredHolder is set'))
    if (spec.holderIdentity === '') errors.push(invalidValue('spec.holderIdentity', '', 'must not be empty'))
  }
  return errors
}
