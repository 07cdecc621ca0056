/** How long the API servers take until they serve again after a fault. */
import { setTimeout as delay } from 'node:timers/promises'
import { NoAnswerError } from '../api/clients/connection.ts'
import { bodyOf, collectionPath, namespaces, shards } from '../api/objects.ts'
import type { Fleet, Server } from './fleet.ts'

const patienceMs = 60_000
const answerMs = 1000
const restMs = 50

let probes = 0

/** Resolves with the time in ms until each server has written an object and read a list. Gives up after a minute. */
export async function recoveryTime(fleet: Fleet): Promise<number> {
  const start = performance.now()
  await Promise.all(fleet.servers.map((server) => untilWell(fleet, server, start + patienceMs)))
  return performance.now() - start
}

async function untilWell(fleet: Fleet, server: Server, deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    if ((await writes(fleet, server)) && (await lists(fleet, server))) return
    await delay(restMs)
  }
}

/** Creates an object, which is part of the history like all others. */
async function writes(fleet: Fleet, server: Server): Promise<boolean> {
  const { history, tallies } = fleet
  const key = history.key('configmaps', namespaces[1], `probe-${probes++}`)
  const write = history.begin(key, 'create', shards[0], performance.now())
  tallies.writes++
  const path = collectionPath(key.kind, key.namespace)
  const answer = await request(fleet, server, 'POST', path, bodyOf(key.kind, key.name, write))
  if (answer?.status !== 201) return false
  const { metadata } = JSON.parse(answer.text) as { readonly metadata: { readonly resourceVersion: string } }
  write.outcome = 'acknowledged'
  write.answered = answer.at
  write.revision = Number(metadata.resourceVersion)
  tallies.acknowledged++
  return true
}

const lists = async (fleet: Fleet, server: Server): Promise<boolean> =>
  (await request(fleet, server, 'GET', `${collectionPath('leases', namespaces[1])}?limit=1`))?.status === 200

/** Resolves with undefined if there is no answer within a second. */
async function request(fleet: Fleet, server: Server, method: string, path: string, body?: object) {
  try {
    return await fleet.connectionTo(server, 'probe').request(method, path, body, answerMs)
  } catch (error) {
    if (error instanceof NoAnswerError) return undefined
    throw error
  }
}
