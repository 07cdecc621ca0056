/** PriorityLevelConfigurations: the concurrency limit of a level, and what happens to excess requests. */

import type { V1LimitedPriorityLevelConfiguration } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Wire } from '../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../machinery/validation/field-error.ts'
import { all, positive } from '../../machinery/validation/field-rules.ts'
import { number, optional, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { age, column, name, resource } from '../resource.ts'
import { type PriorityLevelConfiguration as Level, mandatoryPriorityLevels } from './bootstrap-objects.ts'
import { conditionRules } from './conditions.ts'

export const priorityLevelConfigurations = resource<Level>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  subresources: { status: true },
  generation: 'spec',
  defaults: [levelDefaults],
  resetFields: { status: ['metadata', 'spec'] },
  prepare: {
    create: (level) => {
      level.status = {}
    },
  },
  validate: { object: levelRules, status: ({ status }) => conditionRules(status?.conditions) },
  columns: [
    name,
    column('Type', ({ spec }) => spec?.type ?? '', { description: 'The type: Limited or Exempt.' }),
    column('NominalConcurrencyShares', ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? '<none>', {
      description: 'The share of the concurrency limit of the server.',
    }),
    column('Queues', ({ spec }) => spec?.limited?.limitResponse?.queuing?.queues ?? '<none>', {
      description: 'The number of queues.',
    }),
    column('HandSize', ({ spec }) => spec?.limited?.limitResponse?.queuing?.handSize ?? '<none>', {
      description: 'The number of queues that a flow can use.',
    }),
    column('QueueLengthLimit', ({ spec }) => spec?.limited?.limitResponse?.queuing?.queueLengthLimit ?? '<none>', {
      description: 'The maximum number of requests in a queue.',
    }),
    age,
  ],
})

function levelDefaults({ spec }: Level): void {
  if (spec?.exempt) {
    spec.exempt.nominalConcurrencyShares ??= 0
    spec.exempt.lendablePercent ??= 0
  }
  if (!spec?.limited) return
  spec.limited.nominalConcurrencyShares ??= 30
  spec.limited.lendablePercent ??= 0
  const queuing = spec.limited.limitResponse?.queuing
  if (!queuing) return
  queuing.handSize ||= 8
  queuing.queues ||= 64
  queuing.queueLengthLimit ||= 50
}

function levelRules({ metadata, spec }: Level): readonly FieldError[] {
  const errors: FieldError[] = []
  if ((metadata.name === 'exempt') !== (spec?.type === 'Exempt'))
    errors.push(invalidValue('spec.type', spec?.type ?? '', "must be 'Exempt' if and only if `name` is 'exempt'"))
  return errors.concat(typeRules(spec), fixedRules({ metadata, spec }))
}

const shownSpec = struct({
  Type: text,
  Limited: pointer({
    NominalConcurrencyShares: number,
    LimitResponse: struct({
      Type: text,
      Queuing: pointer({ Queues: number, HandSize: number, QueueLengthLimit: number }),
    }),
    LendablePercent: optional,
    BorrowingLimitPercent: optional,
  }),
  Exempt: pointer({ NominalConcurrencyShares: optional, LendablePercent: optional }),
})

/** The specs of mandatory levels are fixed, except `spec.exempt` of the exempt one. */
function fixedRules({ metadata: { name }, spec }: Pick<Level, 'metadata' | 'spec'>): readonly FieldError[] {
  const fixed = mandatoryPriorityLevels.find(({ metadata }) => metadata.name === name)
  if (!fixed) return []
  if (name !== 'exempt')
    return semanticallyEqual(spec, fixed.spec)
      ? []
      : [invalidValue('spec', shownSpec(spec), `spec of '${name}' must equal the fixed value`)]
  return semanticallyEqual({ ...spec, exempt: undefined }, { ...fixed.spec, exempt: undefined })
    ? []
    : [
        invalidValue(
          'spec',
          shownSpec(spec),
          "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
        ),
      ]
}

function typeRules(spec: Level['spec']): readonly FieldError[] {
  switch (spec?.type) {
    case 'Exempt':
      return all(
        spec.limited ? [forbiddenField('spec.limited', 'must be nil if the type is not Limited')] : [],
        lendingRules(spec.exempt ?? {}, 'spec.exempt'),
      )
    case 'Limited':
      return all(
        spec.exempt ? [forbiddenField('spec.exempt', 'must be nil if the type is Limited')] : [],
        spec.limited
          ? limitedRules(spec.limited)
          : [required('spec.limited', 'must not be empty when type is Limited')],
      )
    default:
      return [notSupported('spec.type', spec?.type ?? '', ['Exempt', 'Limited'])]
  }
}

const responses = ['Queue', 'Reject']
/** The entropy of a flow's hash, in bits. */
const hashBits = 60

/** Fields that both types of levels have. */
interface Lending {
  readonly nominalConcurrencyShares?: number
  readonly lendablePercent?: number
}

const lendingRules = (
  { nominalConcurrencyShares: shares = 0, lendablePercent: lendable = 0 }: Lending,
  path: string,
): readonly FieldError[] => [
  ...(shares < 0 ? [invalidValue(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')] : []),
  ...(lendable < 0 || lendable > 100
    ? [invalidValue(`${path}.lendablePercent`, lendable, 'must be between 0 and 100, inclusive')]
    : []),
]

function limitedRules(limited: Wire<V1LimitedPriorityLevelConfiguration>): readonly FieldError[] {
  const { borrowingLimitPercent = 0, limitResponse } = limited
  const errors = [...lendingRules(limited, 'spec.limited')]
  if (borrowingLimitPercent < 0)
    errors.push(
      invalidValue(
        'spec.limited.borrowingLimitPercent',
        borrowingLimitPercent,
        'if specified, must be a non-negative integer',
      ),
    )
  const path = 'spec.limited.limitResponse'
  const { type = '', queuing } = limitResponse ?? {}
  if (!responses.includes(type)) return [...errors, notSupported(`${path}.type`, type, responses)]
  if (type === 'Reject')
    return queuing
      ? [...errors, forbiddenField(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
      : errors
  if (!queuing)
    return [...errors, required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')]
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing
  errors.push(
    ...positive(queueLengthLimit, `${path}.queuing.queueLengthLimit`),
    ...positive(queues, `${path}.queuing.queues`),
    ...positive(handSize, `${path}.queuing.handSize`),
  )
  if (queues > 10_000_000)
    errors.push(invalidValue(`${path}.queuing.queues`, queues, 'must not be greater than 10000000'))
  const bits = Math.ceil(Math.log2(queues) * handSize)
  if (handSize > queues)
    errors.push(invalidValue(`${path}.queuing.handSize`, handSize, `should not be greater than queues (${queues})`))
  else if (queues > 0 && handSize > 0 && bits > hashBits) {
    const why =
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ` + `${hashBits}`
    errors.push(invalidValue(`${path}.queuing.handSize`, handSize, why))
  }
  return errors
}
