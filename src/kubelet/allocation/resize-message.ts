/** The messages of events about resizes, in upstream's words: the resources of all containers as JSON. */
import { type Container, type Pod, specOf } from '../pod-types.ts'
import type { Requirements } from './pod-resources.ts'

/** `start` is for example `Pod resize started`. */
export function resizeMessage(start: string, pod: Pod, generation: number | undefined, error?: string): string {
  const { initContainers = [], containers } = specOf(pod)
  const summary = {
    ...(initContainers.length > 0 && { initContainers: initContainers.map(summaryOf) }),
    ...(containers.length > 0 && { containers: containers.map(summaryOf) }),
    generation: generation ?? 0,
    ...(error && { error }),
  }
  return `${start}: ${JSON.stringify(summary)}`
}

const summaryOf = ({ name, resources = {} }: Container) => ({ name, resources: sorted(resources) })

/** In the order in which Go writes them. */
function sorted({ limits, requests, claims }: Requirements) {
  return {
    ...(hasMembers(limits) && { limits: byName(limits) }),
    ...(hasMembers(requests) && { requests: byName(requests) }),
    ...(claims && claims.length > 0 && { claims }),
  }
}

const hasMembers = (amounts: object | undefined): amounts is Record<string, string> =>
  amounts !== undefined && Object.keys(amounts).length > 0

const byName = (amounts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)))
