/** PodNodeSelector: adds the node selector of the namespace to pods, from an annotation or from the configuration. */

import { ExplainedError } from '../../../../lib/explained-error.ts'
import { after } from '../../../../lib/flow/after.ts'
import { own } from '../../../../lib/own.ts'
import { forbidden, internal } from '../../../../machinery/status-error.ts'
import { labelValue, qualifiedName } from '../../../../machinery/validation/names.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { namespaceAnnotations } from '../namespace-annotations.ts'
import { type PodWithSpec, writtenPod } from '../pod-write.ts'

type Labels = Readonly<Record<string, string>>

const annotation = 'scheduler.alpha.kubernetes.io/node-selector'
/** In the configuration: the selector for namespaces without an annotation. */
const clusterDefault = 'clusterDefaultNodeSelector'

export function podNodeSelector(sources: PluginSources): AdmissionPlugin {
  const pods = sources.find('v1/pods')
  const selectors = configured(sources.configuration('PodNodeSelector'))
  const namespaces = namespaceAnnotations(sources, [annotation])
  return {
    name: 'PodNodeSelector',
    handles: ['CREATE'],
    mutate(attributes) {
      const pod = writtenPod(pods, attributes)
      if (!pod) return
      return after(selectorOf(attributes.namespace), (wanted) => {
        checkConflicts(pods, pod, wanted)
        if (Object.keys(wanted).length) pod.spec.nodeSelector = { ...wanted, ...pod.spec.nodeSelector }
        checkAllowed(attributes, pod)
      })
    },
    validate(attributes) {
      const pod = writtenPod(pods, attributes)
      if (!pod) return
      return after(selectorOf(attributes.namespace), (wanted) => {
        checkConflicts(pods, pod, wanted)
        checkAllowed(attributes, pod)
      })
    },
    start: () => namespaces.start(),
    stop: () => namespaces.stop(),
  }

  function selectorOf(namespace: string): Labels | Promise<Labels> {
    return after(namespaces.of(namespace), (annotations) =>
      parseLabels(own(annotations, annotation) ?? own(selectors, clusterDefault) ?? ''),
    )
  }

  function checkAllowed({ namespace }: AdmissionAttributes, pod: PodWithSpec): void {
    const allowed = parseLabels(own(selectors, namespace) ?? '')
    if (Object.keys(allowed).length === 0) return
    if (Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => own(allowed, key) === value)) return
    throw forbidden(
      pods.groupResource,
      pod.metadata.name ?? '',
      'pod node label selector labels conflict with its namespace whitelist',
    )
  }
}

function checkConflicts(pods: ServedResource, { metadata, spec }: PodWithSpec, wanted: Labels): void {
  const isOther = ([key, value]: [string, string]): boolean => (own(wanted, key) ?? value) !== value
  if (!Object.entries(spec.nodeSelector ?? {}).some(isOther)) return
  throw forbidden(
    pods.groupResource,
    metadata.name ?? '',
    'pod node label selector conflicts with its namespace node label selector',
  )
}

/** Parses `env=test,region=eu`. Throws a 500 for an invalid selector. */
function parseLabels(text: string): Labels {
  if (text === '') return {}
  const labels: [string, string][] = []
  for (const term of text.split(',')) {
    const pair = term.split('=')
    if (pair.length !== 2)
      throw internal(`invalid selector: ${JSON.stringify(pair)}`.replace(/","/g, ' ').replace(/"/g, ''))
    const [key, value] = [pair[0]!.trim(), pair[1]!.trim()]
    const faults = [...qualifiedName(key), ...labelValue(value)]
    if (faults.length) throw internal(`invalid selector ${JSON.stringify(term)}: ${faults.join('; ')}`)
    labels.push([key, value])
  }
  return Object.fromEntries(labels)
}

/** Selectors by namespace, and the default under `clusterDefaultNodeSelector`. */
function configured(given: unknown): Labels {
  const selectors =
    (given as { readonly podNodeSelectorPluginConfig?: unknown } | null | undefined)?.podNodeSelectorPluginConfig ?? {}
  if (typeof selectors === 'object' && Object.values(selectors).every((value) => typeof value === 'string'))
    return selectors as Labels
  throw new ExplainedError(
    'the configuration of PodNodeSelector is wrong: podNodeSelectorPluginConfig has to name a selector like ' +
      '"env=test" for each namespace',
  )
}
