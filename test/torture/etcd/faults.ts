/** Faults of the cluster under torture. Each lasts for a time, and then everything is there again. */
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '../../support/wait-for.ts'
import type { Fleet } from './fleet.ts'
import type { Member } from './member.ts'

export const faultNames = ['leader', 'server', 'cut', 'slow'] as const
export type FaultName = (typeof faultNames)[number]

export const isFaultName = (name: string): name is FaultName => (faultNames as readonly string[]).includes(name)

export interface Tortured {
  readonly members: readonly Member[]
  readonly fleet: Fleet
  /** From 0 to below 1. */
  readonly random: () => number
}

const pickBy = <T>(random: () => number, values: readonly T[]): T => values[Math.floor(random() * values.length)]!

const leaderOf = (members: readonly Member[]): Promise<Member> =>
  waitFor('etcd has a leader', async () => {
    for (const member of members) if (await member.isLeader()) return member
    return undefined
  })

const faults: Readonly<Record<FaultName, (tortured: Tortured) => Promise<void>>> = {
  async leader({ members, random }) {
    const leader = await leaderOf(members)
    await leader.kill()
    await delay(random() * 1500)
    leader.start(members)
  },
  async server({ fleet, random }) {
    const server = pickBy(random, fleet.servers)
    await fleet.kill(server)
    await delay(random() * 1000)
    await fleet.start(server)
  },
  async cut({ members, random }) {
    const { place } = random() < 0.5 ? await leaderOf(members) : pickBy(random, members)
    place.cut()
    await delay(500 + random() * 4000)
    place.heal()
  },
  async slow({ members, random }) {
    const member = random() < 0.5 ? await leaderOf(members) : pickBy(random, members)
    member.pause()
    await delay(500 + random() * 4000)
    member.resume()
  },
}

/** Lets a fault happen. Resolves when it is over and all members of etcd are well. */
export async function disturb(name: FaultName, tortured: Tortured): Promise<void> {
  await faults[name](tortured)
  await waitFor('all members of etcd are well', async () => {
    const well = await Promise.all(tortured.members.map((member) => member.isWell()))
    return well.every(Boolean)
  })
}
