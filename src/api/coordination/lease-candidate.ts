/** LeaseCandidates: who would like to hold a lease (coordinated leader election). Beta. */
import type { V1beta1LeaseCandidate } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { immutable, requiredRule } from '../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'
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
  validate: { object: candidateRules, update: ({ spec }, { spec: old }) => immutable(spec?.leaseName, 'spec.leaseName', old?.leaseName) },
  columns: [
    name,
    column('LeaseName', ({ spec }) => spec?.leaseName ?? '', { description: 'The lease that it would like to hold.' }),
    column('BinaryVersion', ({ spec }) => spec?.binaryVersion ?? '', { description: 'The version of its program.' }),
    column('EmulationVersion', ({ spec }) => spec?.emulationVersion ?? '', { description: 'The version that it behaves like.' }),
    column('PingTime', ({ spec }) => ({ since: spec?.pingTime }), { description: 'How long ago it was asked whether it is still there.' }),
    column('RenewTime', ({ spec }) => ({ since: spec?.renewTime }), { description: 'How long ago it said that it is still there.' }),
    column('Strategy', ({ spec }) => spec?.strategy ?? '', { description: 'How the holder is chosen.' }),
    age,
  ],
})

const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/
const versionWords = 'must be a valid semantic version'

function candidateRules({ spec }: LeaseCandidate): readonly FieldError[] {
  const errors = [...requiredRule(spec?.leaseName, 'spec.leaseName', dnsSubdomain)]
  const { binaryVersion, emulationVersion } = spec ?? {}
  if (emulationVersion && !semanticVersion.test(emulationVersion)) errors.push(invalidValue('spec.emulationVersion', emulationVersion, versionWords))
  if (!binaryVersion) errors.push(required('spec.binaryVersion'))
  else if (!semanticVersion.test(binaryVersion)) errors.push(invalidValue('spec.binaryVersion', binaryVersion, versionWords))
  if (!spec?.strategy) errors.push(required('spec.strategy'))
  if (spec?.strategy === 'OldestEmulationVersion' && !spec.emulationVersion)
    errors.push(required('spec.emulationVersion', "must be specified when `strategy` is 'OldestEmulationVersion'"))
  return errors
}

export const alphaLeaseCandidates = servedAlso(leaseCandidates, 'v1alpha2', 'V1alpha2LeaseCandidate')
