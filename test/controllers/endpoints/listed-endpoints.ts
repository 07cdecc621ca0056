/**
 * The addresses in slices and Endpoints, and the expected ones, one a line: `10.1.0.1 8080 ready`. They are sorted and
 * not unique, so that a duplicate is a difference.
 */
import type { EndpointSlice, Endpoints, Pod, Service } from '../../../src/client/kinds.ts'

/** A pod as a Service that selects it may list it. */
interface Offer {
  readonly ip: string
  readonly port: number
  readonly isReady: boolean
  readonly isTerminating: boolean
}

/** Undefined for a pod that the Service does not list. The Service and the pod's container have one port each. */
export function offerOf({ metadata, spec, status }: Pod, { spec: service }: Service): Offer | undefined {
  const selector = Object.entries(service?.selector ?? {})
  if (!selector.every(([key, value]) => metadata.labels?.[key] === value)) return undefined
  if (!status?.podIP || status.phase === 'Succeeded' || status.phase === 'Failed') return undefined
  const target = service?.ports?.[0]?.targetPort
  const port = typeof target === 'number' ? target : (spec?.containers[0]?.ports?.[0]?.containerPort ?? 0)
  const isReady =
    status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
  return { ip: status.podIP, port, isReady, isTerminating: metadata.deletionTimestamp !== undefined }
}

const offersOf = (pods: readonly Pod[], service: Service): Offer[] => pods.flatMap((pod) => offerOf(pod, service) ?? [])

const line = (
  address: string,
  port: number | undefined,
  states: Readonly<Record<string, boolean | undefined>>,
): string => [address, port, ...Object.keys(states).filter((state) => states[state])].join(' ')

export const inSlices = (slices: readonly EndpointSlice[]): string[] =>
  slices
    .flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).map(({ addresses, conditions }) =>
        line(addresses.join(), ports?.[0]?.port, statesOf(conditions)),
      ),
    )
    .sort()

const statesOf = ({
  ready,
  serving,
  terminating,
}: NonNullable<NonNullable<EndpointSlice['endpoints']>[number]['conditions']> = {}) => ({
  ready,
  serving,
  terminating,
})

export const expectedInSlices = (pods: readonly Pod[], service: Service): string[] =>
  offersOf(pods, service)
    .map(({ ip, port, isReady, isTerminating }) => {
      const always = service.spec?.publishNotReadyAddresses ?? false
      return line(ip, port, {
        ready: always || (isReady && !isTerminating),
        serving: isReady,
        terminating: isTerminating,
      })
    })
    .sort()

export const inEndpoints = ({ subsets = [] }: Endpoints): string[] =>
  subsets
    .flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
      ...addresses.map(({ ip }) => line(ip, ports[0]?.port, { ready: true })),
      ...notReadyAddresses.map(({ ip }) => line(ip, ports[0]?.port, {})),
    ])
    .sort()

/** Endpoints have no states as slices have: they omit terminating pods. */
export function expectedInEndpoints(pods: readonly Pod[], service: Service): string[] {
  const always = service.spec?.publishNotReadyAddresses ?? false
  return offersOf(pods, service)
    .filter(({ isTerminating }) => always || !isTerminating)
    .map(({ ip, port, isReady }) => line(ip, port, { ready: always || isReady }))
    .sort()
}
