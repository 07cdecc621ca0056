/** What a pod asks of its node: containers at once, init containers one after the other, sidecars beside both, overhead, and the pod's own list. */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import { add, copyOf, noResources, type ResourceList, type Resources, raise, resourcesOf, setAmount } from './resources.ts'

type Spec = NonNullable<Pod['spec']>
type Container = Spec['containers'][number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

/** What a container counts for that says nothing, where nodes are compared by how full they are: 0.1 cores, 200 MB. */
const assumed = { milliCPU: 100, memory: 200 * 1024 * 1024 }

export interface PodRequests {
  readonly requests: Resources
  /** With something assumed for containers that ask for no CPU or no memory: only for scores. */
  readonly nonZero: Pick<Resources, 'milliCPU' | 'memory'>
}

export function podRequests(pod: Pod): PodRequests {
  const requests = total(pod, false, false)
  const ownRequests = pod.spec?.resources?.requests
  const assumesCPU = !ownRequests || !requests.milliCPU
  const assumesMemory = !ownRequests || !requests.memory
  const { milliCPU, memory } = assumesCPU || assumesMemory ? total(pod, assumesCPU, assumesMemory) : requests
  return { requests, nonZero: { milliCPU, memory } }
}

function total({ spec, status }: Pod, assumesCPU: boolean, assumesMemory: boolean): Resources {
  const isInfeasible = status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') ?? false
  const of = (container: Container, statuses: readonly ContainerStatus[] | undefined): Resources => {
    const asked = container.resources?.requests
    const found = resourcesWithResize(
      asked,
      statuses?.find(({ name }) => name === container.name),
      isInfeasible,
    )
    if (assumesCPU && own(asked, 'cpu') === undefined) found.milliCPU = assumed.milliCPU
    if (assumesMemory && own(asked, 'memory') === undefined) found.memory = assumed.memory
    return found
  }
  const sum = noResources()
  for (const container of spec?.containers ?? []) add(sum, of(container, status?.containerStatuses))
  const sidecars = noResources()
  const initPeak = noResources()
  for (const container of spec?.initContainers ?? []) {
    const asked = of(container, status?.initContainerStatuses)
    if (container.restartPolicy === 'Always') {
      add(sum, asked)
      add(sidecars, asked)
      raise(initPeak, sidecars)
    } else {
      add(asked, sidecars)
      raise(initPeak, asked)
    }
  }
  raise(sum, initPeak)
  for (const [name, amount] of Object.entries(spec?.resources?.requests ?? {})) if (isPodLevel(name)) setAmount(sum, name, amount)
  if (spec?.overhead) add(sum, resourcesOf(spec.overhead))
  return sum
}

/** While a pod is resized, what counts is the larger of what it asks for and what it has (KEP-1287). */
function resourcesWithResize(asked: ResourceList | undefined, status: ContainerStatus | undefined, isInfeasible: boolean): Resources {
  const wanted = resourcesOf(asked)
  if (!status?.resources) return wanted
  const found = isInfeasible ? noResources() : copyOf(wanted)
  raise(found, resourcesOf(status.resources.requests))
  raise(found, resourcesOf(status.allocatedResources))
  return found
}

/** What a pod may ask for as a whole (KEP-2837). */
const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
