/**
 * PodTolerationRestriction: adds the default tolerations of the namespace, and rejects those outside of its whitelist.
 */

import { qosClass } from '../../../../api/core/pod/resources/qos.ts'
import { parseJson } from '../../../../lib/exact-json.ts'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import { after } from '../../../../lib/flow/after.ts'
import { own } from '../../../../lib/own.ts'
import { decodeConfiguration, listOf, structOf, text } from '../../../../machinery/decode/configuration.ts'
import { internal } from '../../../../machinery/status-error.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { namespaceAnnotations } from '../namespace-annotations.ts'
import { type PodWithSpec, writtenPod } from '../pod-write.ts'
import { areAllowed, mergeTolerations, type Toleration } from './tolerations.ts'

const defaultsKey = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const allowedKey = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'

/** Added to pods that request memory or CPU: they may run on nodes short of memory. */
const memoryPressure: Toleration = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}

export function podTolerationRestriction(sources: PluginSources): AdmissionPlugin {
  const pods = sources.find('v1/pods')
  const cluster = configured(sources.configuration('PodTolerationRestriction'))
  const namespaces = namespaceAnnotations(sources, [defaultsKey, allowedKey])
  const check = ({ spec }: PodWithSpec, annotations: Readonly<Record<string, string>>): void => {
    const ofNamespace = parse(own(annotations, allowedKey))
    if (!spec.tolerations?.length || areAllowed(spec.tolerations, ofNamespace ?? cluster.allowed)) return
    const scope = ofNamespace ? 'namespace' : 'cluster'
    throw internal(
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
    )
  }
  return {
    name: 'PodTolerationRestriction',
    handles: ['CREATE', 'UPDATE'],
    mutate(attributes) {
      const pod = writtenPod(pods, attributes)
      if (!pod) return
      return after(namespaces.of(attributes.namespace), (annotations) => {
        const more = attributes.operation === 'CREATE' ? (parse(own(annotations, defaultsKey)) ?? cluster.defaults) : []
        const extra = qosClass(pod.spec) === 'BestEffort' ? more : [...more, memoryPressure]
        if (extra.length) pod.spec.tolerations = mergeTolerations(pod.spec.tolerations ?? [], extra)
        check(pod, annotations)
      })
    },
    validate(attributes) {
      const pod = writtenPod(pods, attributes)
      return pod && after(namespaces.of(attributes.namespace), (annotations) => check(pod, annotations))
    },
    start: () => namespaces.start(),
    stop: () => namespaces.stop(),
  }
}

/** Returns undefined without an annotation; an empty annotation is an empty list. Throws a 500 for an invalid one. */
function parse(text: string | undefined): Toleration[] | undefined {
  if (text === undefined) return undefined
  if (text === '') return []
  try {
    const list: unknown = parseJson(text)
    if (isTolerations(list)) return list
  } catch {
    // The error is thrown below.
  }
  throw internal(`cannot read the tolerations of the namespace, which are to be a list in JSON: ${text}`)
}

const isTolerations = (value: unknown): value is Toleration[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))

interface ClusterTolerations {
  readonly defaults: readonly Toleration[]
  readonly allowed: readonly Toleration[]
}

const toleration = structOf('Toleration', {
  key: text,
  operator: text,
  value: text,
  effect: text,
  tolerationSeconds: { kind: 'integer', format: 'int64' },
})
const shape = {
  kind: 'Configuration',
  versions: ['podtolerationrestriction.admission.k8s.io/v1alpha1'],
  fields: { default: listOf(toleration), whitelist: listOf(toleration) },
}

/** Throws an ExplainedError for an invalid configuration. */
function configured(given: unknown): ClusterTolerations {
  if (given === undefined) return { defaults: [], allowed: [] }
  try {
    const { default: defaults = [], whitelist: allowed = [] } = decodeConfiguration<{
      default?: Toleration[]
      whitelist?: Toleration[]
    }>(given, shape)
    return { defaults, allowed }
  } catch (error) {
    throw new ExplainedError(`the configuration of PodTolerationRestriction cannot be read: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
