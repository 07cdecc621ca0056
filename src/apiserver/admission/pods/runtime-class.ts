/** RuntimeClass: sets the overhead and the scheduling constraints of the pod's RuntimeClass (KEP-688, KEP-585). */
import type { V1RuntimeClass } from '@kubernetes/client-node'
import { after } from '../../../lib/flow/after.ts'
import { own } from '../../../lib/own.ts'
import type { Model } from '../../../machinery/object.ts'
import { compareQuantities } from '../../../machinery/values/quantity.ts'
import { Informer } from '../../registry/informer.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { type PodWithSpec, writtenPod } from './pod-write.ts'
import { mergeTolerations } from './scheduling/tolerations.ts'

type RuntimeClass = Model<V1RuntimeClass>
type Amounts = Readonly<Record<string, string>>

export function runtimeClass({ registry, find, log }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const classes = find('node.k8s.io/v1/runtimeclasses')
  const informer = new Informer<RuntimeClass>({ registry, resource: classes, log })
  return {
    name: 'RuntimeClass',
    handles: ['CREATE'],
    mutate(attributes) {
      const pod = writtenPod(pods, attributes)
      if (!pod?.spec.runtimeClassName) return
      return after(classNamed(attributes, pod.spec.runtimeClassName), (found) => {
        setOverhead(attributes, pod, found)
        setScheduling(attributes, pod, found)
      })
    },
    validate(attributes) {
      const pod = writtenPod(pods, attributes)
      if (!pod) return
      const { runtimeClassName, overhead } = pod.spec
      if (runtimeClassName)
        return after(classNamed(attributes, runtimeClassName), (found) => checkOverhead(attributes, pod, found))
      if (overhead) throw forbiddenWrite(attributes, unexpectedOverhead)
    },
    start: () => informer.start(),
    stop: () => informer.stop(),
  }

  function classNamed(attributes: AdmissionAttributes, name: string): RuntimeClass | Promise<RuntimeClass> {
    const known = informer.get('', name)
    if (known) return known
    // A class created just now may not have been observed yet.
    return after(registry.lookUp(classes, classes.key('', name)), (found) => {
      if (!found) throw forbiddenWrite(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
      return found.parse<RuntimeClass>()
    })
  }
}

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
const unexpectedOverhead = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'

function setOverhead(attributes: AdmissionAttributes, { spec }: PodWithSpec, { overhead }: RuntimeClass): void {
  if (!overhead) return
  if (spec.overhead && !areSame(overhead.podFixed, spec.overhead)) throw forbiddenWrite(attributes, mismatch)
  spec.overhead = overhead.podFixed && { ...overhead.podFixed }
}

function checkOverhead(attributes: AdmissionAttributes, { spec }: PodWithSpec, { overhead }: RuntimeClass): void {
  if (!overhead && spec.overhead) throw forbiddenWrite(attributes, unexpectedOverhead)
  if (overhead && !areSame(overhead.podFixed, spec.overhead)) throw forbiddenWrite(attributes, mismatch)
}

function setScheduling(attributes: AdmissionAttributes, { spec }: PodWithSpec, { scheduling }: RuntimeClass): void {
  if (!scheduling) return
  const { nodeSelector = {}, tolerations = [] } = scheduling
  for (const [key, value] of Object.entries(nodeSelector)) {
    const podValue = own(spec.nodeSelector, key)
    if (podValue === undefined || podValue === value) continue
    throw forbiddenWrite(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${podValue}`,
    )
  }
  if (Object.keys(nodeSelector).length) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector }
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations)
  if (merged.length) spec.tolerations = merged
}

/** `1` and `1000m` are equal. */
function areSame(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const other = own(b, name)
      return other !== undefined && compareQuantities(String(a[name]), String(other)) === 0
    })
  )
}
