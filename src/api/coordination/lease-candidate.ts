/** LeaseCandidates: who would like to hold a lease (coordinated leader election). Beta. */
import type { V1beta1LeaseCandidate } from '@kubernetes/client-node'
import { type FieldError, required } from '../../machinery/field-error.ts'
import { dnsSubdomain } from '../../machinery/names.ts'
import type { Model } from '../../machinery/object.ts'
import { immutable, requiredText } from '../field-rules.ts'
import { age, column, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'

type LeaseCandidate = Model<V1beta1LeaseCandidate>

export const leaseCandidates = resource<LeaseCandidate>({
  group: 'coordination.k8s.io',
  version: 'v1beta1',
  kind: 'LeaseCandidate',
  plural: 'leasecandidates',
  model: 'V1beta1LeaseCandidate',
  scope: 'Namespaced',
  createOnUpdate: true,
  onByDefault: false,
  validate: { object: candidateRules, update: ({ spec }, { spec: old }) => immutable('spec.leaseName', spec?.leaseName, old?.leaseName) },
  columns: [
    name,
    column('LeaseName', ({ spec }) => spec?.leaseName ?? ''),
    column('BinaryVersion', ({ spec }) => spec?.binaryVersion ?? ''),
    column('EmulationVersion', ({ spec }) => spec?.emulationVersion ?? ''),
    column('PingTime', ({ spec }) => ({ since: spec?.pingTime })),
    column('RenewTime', ({ spec }) => ({ since: spec?.renewTime })),
    column('Strategy', ({ spec }) => spec?.strategy ?? ''),
    age,
  ],
})

function candidateRules({ spec }: LeaseCandidate): FieldError[] {
  const errors = requiredText('spec.leaseName', spec?.leaseName, dnsSubdomain)
  if (!spec?.binaryVersion) errors.push(required('spec.binaryVersion'))
  if (!spec?.strategy) errors.push(required('spec.strategy'))
  if (spec?.strategy === 'OldestEmulationVersion' && !spec.emulationVersion)
    errors.push(required('spec.emulationVersion', "must be specified when `strategy` is 'OldestEmulationVersion'"))
  return errors
}

export const alphaLeaseCandidates = servedAlso(leaseCandidates, 'v1alpha2', 'V1alpha2LeaseCandidate')
