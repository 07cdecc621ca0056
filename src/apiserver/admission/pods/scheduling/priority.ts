/**
 * Priority: sets the priority and the preemption policy of the pod's PriorityClass, and rejects a second default class.
 */
import type { V1PriorityClass } from '@kubernetes/client-node'
import { after } from '../../../../lib/flow/after.ts'
import type { Model } from '../../../../machinery/object.ts'
import { Informer } from '../../../registry/informer.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { type PodWithSpec, writtenPod } from '../pod-write.ts'

type PriorityClass = Model<V1PriorityClass>

/** The fields of a PriorityClass that are cached. */
interface Priority {
  readonly name: string
  readonly value: number
  readonly preemptionPolicy?: string
  readonly isDefault: boolean
}

const withoutClass: Priority = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority', isDefault: true }

export function priority({ registry, find, log }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const classes = find('scheduling.k8s.io/v1/priorityclasses')
  let defaultClass: Priority | undefined
  const informer = new Informer<Priority>({
    registry,
    resource: classes,
    read: (object) => priorityOf(object.parse<PriorityClass>()),
    changed: (value, old) => {
      if (value?.isDefault || old?.isDefault) defaultClass = lowestDefault(informer.all())
    },
    log,
  })
  return {
    name: 'Priority',
    handles: ['CREATE', 'UPDATE'],
    mutate(attributes) {
      const pod = writtenPod(pods, attributes)
      if (!pod) return
      if (attributes.operation === 'UPDATE') return restorePriority(pod, attributes)
      const { priorityClassName } = pod.spec
      if (!priorityClassName) return setPriority(attributes, pod, defaultClass ?? withoutClass)
      return after(classNamed(priorityClassName), (found) => {
        if (!found) throw forbiddenWrite(attributes, `no PriorityClass with name ${priorityClassName} was found`)
        setPriority(attributes, pod, found)
      })
    },
    validate(attributes) {
      const { resource, subresource, object, operation } = attributes
      if (resource !== classes || subresource || !object || !(object as PriorityClass).globalDefault || !defaultClass)
        return
      if (operation === 'UPDATE' && defaultClass.name === object.metadata.name) return
      throw forbiddenWrite(
        attributes,
        `PriorityClass ${defaultClass.name} is already marked as default. Only one default can exist`,
      )
    },
    start: () => informer.start(),
    stop: () => informer.stop(),
  }

  /** A class created just now may not have been observed yet. */
  function classNamed(name: string): Priority | undefined | Promise<Priority | undefined> {
    const known = informer.get('', name)
    if (known) return known
    return after(
      registry.lookUp(classes, classes.key('', name)),
      (found) => found && priorityOf(found.parse<PriorityClass>()),
    )
  }
}

const priorityOf = ({ metadata, value = 0, preemptionPolicy, globalDefault = false }: PriorityClass): Priority => ({
  name: metadata.name ?? '',
  value,
  preemptionPolicy,
  isDefault: globalDefault,
})

/** Two servers may have created a default class at the same time. */
function lowestDefault(all: Iterable<Priority>): Priority | undefined {
  let lowest: Priority | undefined
  for (const one of all) if (one.isDefault && (!lowest || one.value < lowest.value)) lowest = one
  return lowest
}

/** Restores fields that the update leaves out. Validation rejects changes of their values. */
function restorePriority(pod: PodWithSpec, { old }: AdmissionAttributes): void {
  const oldSpec = (old as PodWithSpec | undefined)?.spec
  pod.spec.priority ??= oldSpec?.priority
  pod.spec.preemptionPolicy ??= oldSpec?.preemptionPolicy
}

function setPriority(
  attributes: AdmissionAttributes,
  { spec }: PodWithSpec,
  { name, value, preemptionPolicy }: Priority,
): void {
  if (!spec.priorityClassName && name) spec.priorityClassName = name
  if (spec.priority !== undefined && spec.priority !== null && spec.priority !== value) {
    throw forbiddenWrite(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission ` +
        `controller computed ${value} from the given PriorityClass name`,
    )
  }
  spec.priority = value
  if (preemptionPolicy === undefined) return
  if (spec.preemptionPolicy && spec.preemptionPolicy !== preemptionPolicy) {
    throw forbiddenWrite(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ` +
        `priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    )
  }
  spec.preemptionPolicy = preemptionPolicy
}
