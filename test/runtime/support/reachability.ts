/** A node with an uplink to another machine, and the answers that its pods and their clients get. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createNetwork, removeNetwork } from '../../network/network-namespaces.ts'
import { type Agent, startAgent } from './network-agent.ts'
import type { TestRuntime } from './test-runtime.ts'

export const hostAddress = '192.0.2.1'
export const outsideAddress = '192.0.2.2'
export const hostPort = 8080

/** CRI's numbers of protocols. */
const protocols = { tcp: 0, udp: 1 } as const

/** Gives the host an uplink; returns the file of the other machine's network. */
export function addUplink(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-outside-'))
  const outside = join(folder, 'net')
  createNetwork(outside)
  const inside = [`--net=${outside}`, 'ip']
  execFileSync('ip', ['link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'up1'])
  t.after(() => {
    execFileSync('ip', ['link', 'delete', 'up0'])
    removeNetwork(outside)
    rmSync(folder, { recursive: true })
  })
  execFileSync('ip', ['link', 'set', 'up1', 'netns', outside])
  execFileSync('ip', ['address', 'add', `${hostAddress}/24`, 'dev', 'up0'])
  execFileSync('ip', ['link', 'set', 'up0', 'up'])
  execFileSync('ip', ['route', 'add', 'default', 'via', outsideAddress])
  execFileSync('nsenter', [...inside, 'address', 'add', `${outsideAddress}/24`, 'dev', 'up1'])
  execFileSync('nsenter', [...inside, 'link', 'set', 'up1', 'up'])
  return outside
}

/** The file of the network of a sandbox. */
export const networkOf = ({ folder }: TestRuntime, id: string): string => join(folder, 'state/sandboxes', id, 'net')

/** Host ports of a sandbox: `hostPort` of TCP and UDP leads to port 80. */
export const portMappings = (['tcp', 'udp'] as const).map((protocol) => ({
  protocol: protocols[protocol],
  containerPort: 80,
  hostPort,
}))

/** The address of a sandbox. */
export async function addressOf({ client }: TestRuntime, id: string): Promise<string> {
  return (await client.sandboxStatus(id)).status?.network?.ip ?? ''
}

/** Returns all answers by `PROTOCOL CLIENT → ADDRESS:PORT`. The server has host ports. */
export async function answersOf(runtime: TestRuntime, outside: string): Promise<Record<string, string>> {
  const server = await runtime.sandbox({ portMappings })
  const other = await runtime.sandbox()
  const [address, gateway] = [await addressOf(runtime, server.id), '10.88.0.1']
  const agents: Readonly<Record<string, Agent>> = {
    server: await startAgent('server', networkOf(runtime, server.id)),
    other: await startAgent('other', networkOf(runtime, other.id)),
    host: await startAgent('host'),
    outside: await startAgent('outside', outside),
  }
  try {
    return await ask(agents, address, gateway)
  } finally {
    for (const agent of Object.values(agents)) agent.end()
    for (const { id } of [server, other]) {
      await runtime.client.stopSandbox(id)
      await runtime.client.removeSandbox(id)
    }
  }
}

async function ask(
  agents: Readonly<Record<string, Agent>>,
  address: string,
  gateway: string,
): Promise<Record<string, string>> {
  const targets: readonly (readonly [client: string, address: string, port: number])[] = [
    ['other', address, 80],
    ['host', address, 80],
    ['server', address, 80],
    ['server', '127.0.0.1', 80],
    ['other', hostAddress, 80],
    ['other', gateway, 80],
    ['other', outsideAddress, 80],
    ['server', hostAddress, hostPort],
    ['other', hostAddress, hostPort],
    ['other', gateway, hostPort],
    ['host', hostAddress, hostPort],
    ['host', '127.0.0.1', hostPort],
    ['outside', hostAddress, hostPort],
  ]
  const answers: Record<string, string> = {}
  for (const protocol of ['tcp', 'udp'] as const)
    for (const [client, target, port] of targets)
      answers[`${protocol} ${client} → ${target}:${port}`] = await agents[client]!.ask({
        protocol,
        address: target,
        port,
      })
  return answers
}
