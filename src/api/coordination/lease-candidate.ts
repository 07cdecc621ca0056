/** LeaseCandidates: candidates for a lease (coordinated leader election). Beta. */
import type { V1beta1LeaseCandidate } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, immutable, requiredText, valid } from '../../machinery/validation/field-rules.ts'
import { configMapKey } from '../../machinery/validation/names.ts'
import { compareVersions, parseSemanticVersion, type SemanticVersion } from '../../machinery/values/semantic-version.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, column, name, resource } from '../resource.ts'
import { oldestEmulationVersion, strategyRules } from './lease.ts'

type LeaseCandidate = Model<V1beta1LeaseCandidate>

export const leaseCandidates = resource<LeaseCandidate>({
  group: 'coordination.k8s.io',
  version: 'v1beta1',
  kind: 'LeaseCandidate',
  plural: 'leasecandidates',
  model: 'V1beta1LeaseCandidate',
  scope: 'Namespaced',
  createOnUpdate: true,
  requiresVersionOnUpdate: true,
  enabledByDefault: false,
  nameRule: configMapKey,
  validate: {
    object: candidateRules,
    update: ({ spec }, { spec: old }) => immutable(spec?.leaseName ?? '', 'spec.leaseName', old?.leaseName ?? ''),
  },
  columns: [
    name,
    column('LeaseName', ({ spec }) => spec?.leaseName ?? '', {
      description: 'The lease that the candidate wants to hold.',
    }),
    column('BinaryVersion', ({ spec }) => spec?.binaryVersion ?? '', {
      description: 'The binary version of the candidate.',
    }),
    column('EmulationVersion', ({ spec }) => spec?.emulationVersion ?? '', {
      description: 'The emulation version of the candidate.',
    }),
    column('PingTime', ({ spec }) => ({ since: spec?.pingTime }), {
      description: 'How long ago the candidate was last pinged.',
    }),
    column('RenewTime', ({ spec }) => ({ since: spec?.renewTime }), {
      description: 'How long ago the candidate last renewed.',
    }),
    column('Strategy', ({ spec }) => spec?.strategy ?? '', { description: 'How the holder is chosen.' }),
    age,
  ],
})

function candidateRules({ spec }: LeaseCandidate): readonly FieldError[] {
  const { leaseName, binaryVersion, emulationVersion, strategy } = spec ?? {
    leaseName: '',
    binaryVersion: '',
    strategy: '',
  }
  const [binary, emulated] = [binaryVersion, emulationVersion].map(parseVersion)
  return all(
    requiredText(leaseName, 'spec.leaseName'),
    emulationVersion && !emulated ? [invalidValue('spec.emulationVersion', emulationVersion, invalidVersion)] : valid,
    requiredText(binaryVersion, 'spec.binaryVersion'),
    binaryVersion && !binary ? [invalidValue('spec.binaryVersion', binaryVersion, invalidVersion)] : valid,
    // A version that cannot be parsed counts as the oldest.
    binaryVersion && emulated && (!binary || compareVersions(binary, emulated) < 0)
      ? [invalidValue('spec.binaryVersion', binaryVersion, 'must be greater than or equal to `emulationVersion`')]
      : valid,
    requiredText(strategy, 'spec.strategy'),
    strategy === oldestEmulationVersion && !emulated
      ? [required('spec.emulationVersion', "must be specified when `strategy` is 'OldestEmulationVersion'")]
      : valid,
    strategy ? strategyRules(strategy, 'spec.strategy') : valid,
  )
}

const invalidVersion = 'must be a valid semantic version'

function parseVersion(text = ''): SemanticVersion | undefined {
  try {
    return parseSemanticVersion(text)
  } catch {
    return undefined
  }
}

export const alphaLeaseCandidates = additionalVersion(leaseCandidates, 'v1alpha2', 'V1alpha2LeaseCandidate')
