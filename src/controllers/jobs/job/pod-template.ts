/** Builds the pods of a Job: its template with the tracking finalizer and the completion index. */
import type { Job, Pod } from '../../../client/kinds.ts'
import { podFromTemplate } from '../../pods/writes/pod-from-template.ts'
import type { JobIndexes } from './decisions/state.ts'
import { completionIndexAnnotation, trackingFinalizer } from './pods.ts'
import { failureAnnotations, hasLimitPerIndex } from './policies/index-failures.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]

const indexVariable = 'JOB_COMPLETION_INDEX'
/** The server appends five characters to generateName. */
const longestPrefix = 58

/** `index` is undefined unless the Job is Indexed. */
export function podOfJob(job: Job, index: number | undefined, { replaced }: JobIndexes): Pod {
  const pod = podFromTemplate(job.spec?.template ?? {}, job)
  const { metadata } = pod
  const finalizers = [...(metadata.finalizers ?? []).filter((name) => name !== trackingFinalizer), trackingFinalizer]
  if (index === undefined) return { ...pod, metadata: { ...metadata, finalizers } }
  const text = { [completionIndexAnnotation]: `${index}` }
  return {
    ...pod,
    metadata: {
      ...metadata,
      finalizers,
      generateName: namePrefix(job.metadata.name ?? '', index),
      annotations: {
        ...metadata.annotations,
        ...text,
        ...(hasLimitPerIndex(job) && failureAnnotations(job, replaced.get(index))),
      },
      labels: { ...metadata.labels, ...text },
    },
    ...(pod.spec && { spec: withIndex(pod.spec, `${job.metadata.name}-${index}`) }),
  }
}

function withIndex(spec: NonNullable<Pod['spec']>, hostname: string): NonNullable<Pod['spec']> {
  const { containers, initContainers } = spec
  return {
    ...spec,
    hostname,
    containers: containers.map(withIndexVariable),
    ...(initContainers && { initContainers: initContainers.map(withIndexVariable) }),
  }
}

function withIndexVariable(container: Container): Container {
  const { env = [] } = container
  if (env.some(({ name }) => name === indexVariable)) return container
  const variable = {
    name: indexVariable,
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${completionIndexAnnotation}']` } },
  }
  return { ...container, env: [...env, variable] }
}

function namePrefix(name: string, index: number): string {
  const suffix = `-${index}-`
  return name.slice(0, longestPrefix - suffix.length) + suffix
}
