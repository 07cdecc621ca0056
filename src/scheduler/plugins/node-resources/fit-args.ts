/** The arguments of NodeResourcesFit: ignored resources and the scoring strategy. */
import { int32, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/validation/field-error.ts'
import { follows } from '../../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../../machinery/validation/names.ts'
import type { ArgsKind } from '../../framework/index.ts'
import { type ResourceSpec, resourceSpecs, weightFaults, withWeights } from './scored-resources.ts'
import type { ShapePoint } from './strategies.ts'

export interface ScoringStrategy {
  readonly type: string
  readonly resources: readonly ResourceSpec[]
  readonly requestedToCapacityRatio?: { readonly shape?: readonly ShapePoint[] }
}

export interface FitArgs {
  /** Extended resources that an extender manages. */
  readonly ignoredResources?: readonly string[]
  /** The same for all resources of a domain. */
  readonly ignoredResourceGroups?: readonly string[]
  readonly scoringStrategy: ScoringStrategy
}

const strategies = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']

export const fitArgs: ArgsKind<FitArgs> = {
  fields: {
    ignoredResources: listOf(text),
    ignoredResourceGroups: listOf(text),
    scoringStrategy: structOf('ScoringStrategy', {
      type: text,
      resources: resourceSpecs,
      requestedToCapacityRatio: structOf('RequestedToCapacityRatioParam', {
        shape: listOf(structOf('UtilizationShapePoint', { utilization: int32, score: int32 })),
      }),
    }),
  },
  withDefaults({ scoringStrategy, ...given }) {
    const resources = withWeights(scoringStrategy?.resources)
    return {
      ...given,
      scoringStrategy: { ...scoringStrategy, type: scoringStrategy?.type || 'LeastAllocated', resources },
    }
  },
  validate({ ignoredResources = [], ignoredResourceGroups = [], scoringStrategy }, path) {
    const at = `${path}.scoringStrategy`
    const { type, resources, requestedToCapacityRatio } = scoringStrategy
    return [
      ...ignoredResources.flatMap((name, i) => follows(name, `${path}.ignoredResources[${i}]`, qualifiedName)),
      ...ignoredResourceGroups.flatMap((group, i) => groupFaults(group, `${path}.ignoredResourceGroups[${i}]`)),
      ...(strategies.includes(type) ? [] : [notSupported(`${at}.type`, type, strategies)]),
      ...weightFaults(resources, `${at}.resources`),
      ...(requestedToCapacityRatio || type === 'RequestedToCapacityRatio'
        ? shapeFaults(requestedToCapacityRatio?.shape ?? [], `${at}.shape`)
        : []),
    ]
  },
}

const groupFaults = (group: string, path: string): FieldError[] => [
  ...(group.includes('/') ? [invalidValue(path, group, "resource group name can't contain '/'")] : []),
  ...follows(group, path, qualifiedName),
]

function shapeFaults(shape: readonly ShapePoint[], path: string): FieldError[] {
  if (shape.length === 0) return [required(path, 'at least one point must be specified')]
  const turns = shape.findIndex(({ utilization }, i) => i > 0 && (shape[i - 1]?.utilization ?? 0) >= utilization)
  const order =
    turns > 0
      ? [
          invalidValue(
            `${path}[${turns}].utilization`,
            shape[turns]?.utilization,
            'values must be sorted in increasing order',
          ),
        ]
      : []
  const ranges = shape.flatMap(({ utilization, score }, i) => [
    ...inRange(utilization, 100, `${path}[${i}].utilization`),
    ...inRange(score, 10, `${path}[${i}].score`),
  ])
  return [...order, ...ranges]
}

const inRange = (value: number, most: number, path: string): FieldError[] =>
  value >= 0 && value <= most ? [] : [invalidValue(path, value, `not in valid range [0, ${most}]`)]
