/** Metrics through CRI, with cAdvisor's names and labels. Their values are whole numbers. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import { type MetricDescriptorSchema, type MetricSchema, MetricType } from '#protobuf/cri-stats_pb.js'

export type Metric = MessageInitShape<typeof MetricSchema>
export type MetricDescriptor = MessageInitShape<typeof MetricDescriptorSchema>

/** A value, and the values of the definition's own labels. */
export type Sample = readonly [value: number, ...labels: string[]]

export interface MetricDefinition<Subject> {
  readonly name: string
  readonly help: string
  readonly type: MetricType
  /** Labels beside those that all metrics have. */
  readonly labels: readonly string[]
  readonly read: (subject: Subject) => readonly Sample[]
}

/** The values of the labels that all metrics have, in the order of `commonLabels`. */
export type CommonValues = readonly [
  container: string,
  id: string,
  image: string,
  name: string,
  namespace: string,
  pod: string,
]

const commonLabels = ['container', 'id', 'image', 'name', 'namespace', 'pod'] as const

type Read<Subject> = (subject: Subject) => number | undefined

const single =
  <Subject>(read: Read<Subject>) =>
  (subject: Subject): readonly Sample[] => {
    const value = read(subject)
    return value === undefined ? [] : [[value]]
  }

/** A metric that goes up and down. Undefined values are left out. */
export const gauge = <Subject>(name: string, help: string, read: Read<Subject>): MetricDefinition<Subject> => ({
  ...{ name: `container_${name}`, help, type: MetricType.GAUGE, labels: [] },
  read: single(read),
})

/** A total. Undefined values are left out. */
export const counter = <Subject>(name: string, help: string, read: Read<Subject>): MetricDefinition<Subject> => ({
  ...{ name: `container_${name}_total`, help, type: MetricType.COUNTER, labels: [] },
  read: single(read),
})

/** The same metric with labels of its own. */
export const labelled = <Subject>(
  { name, help, type }: MetricDefinition<Subject>,
  labels: readonly string[],
  read: (subject: Subject) => readonly Sample[],
): MetricDefinition<Subject> => ({ name, help, type, labels, read })

export const descriptorOf = <Subject>({ name, help, labels }: MetricDefinition<Subject>): MetricDescriptor => ({
  name,
  help,
  labelKeys: [...commonLabels, ...labels],
})

/** `time` is in ms since 1970. */
export const metricsOf = <Subject>(
  definitions: readonly MetricDefinition<Subject>[],
  subject: Subject,
  common: CommonValues,
  time: number,
): Metric[] =>
  definitions.flatMap(({ name, type, read }) =>
    read(subject).map(([value, ...own]) => ({
      name,
      timestamp: BigInt(time) * 1_000_000n,
      metricType: type,
      labelValues: [...common, ...own],
      value: { value: BigInt(Math.max(0, Math.floor(value))) },
    })),
  )
