/**
 * Removes what the mode ipvs, of this or an earlier process, left on the node. Virtual servers of other programs
 * remain: only those go whose address kube-ipvs0 or a set of the mode has.
 */
import { isIPv4 } from 'node:net'
import { messageOf } from '../../../../lib/message-of.ts'
import { installedVariants } from '../../../iptables/iptables-programs.ts'
import type { ModeOptions } from '../mode-options.ts'
import type { IpvsMachine } from './machine.ts'
import { allSetNames, type SetKey, setKeys, setName } from './rules/ip-sets.ts'
import { removalText } from './rules/rules-text.ts'
import type { ServiceInterface } from './service-interface.ts'

/** `KUBE-CLUSTER-IP 10.96.0.1,tcp:443` of a line of `ipset save`. */
const savedEntry = /^add (\S+) (\S+)$/gm
const withAddresses = ['clusterIp', 'externalIp', 'externalIpLocal', 'loadBalancer', 'nodePortSctp'] as const
const withPorts = { TCP: 'nodePortTcp', UDP: 'nodePortUdp' } as const

/** Carries out all parts, also if one fails. @throws with the failures */
export async function cleanUpIpvs(
  { family, runProgram, log }: ModeOptions,
  { withIpvs }: Pick<IpvsMachine, 'withIpvs'>,
  serviceInterface: ServiceInterface,
): Promise<void> {
  const names = new Map(setKeys.map((key) => [setName(key, family), key]))
  const saved = await runProgram('ipset', ['save'])
  const entries = new Map<SetKey, Set<string>>(setKeys.map((key) => [key, new Set()]))
  for (const [, name = '', entry = ''] of saved.matchAll(savedEntry)) {
    const key = names.get(name)
    if (key) entries.get(key)!.add(entry)
  }
  const addresses = serviceInterface.addresses()
  const isOwn = (protocol: 'TCP' | 'UDP' | 'SCTP', address: string, port: number): boolean => {
    if (isIPv4(address) !== (family === 4)) return false
    const text = `${address},${protocol.toLowerCase()}:${port}`
    const isPort = protocol !== 'SCTP' && entries.get(withPorts[protocol])!.has(String(port))
    return addresses.has(address) || isPort || withAddresses.some((key) => entries.get(key)!.has(text))
  }
  const failures: string[] = []
  const attempt = async (action: () => void | Promise<void>): Promise<void> => {
    try {
      await action()
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  await attempt(() =>
    withIpvs((ipvs) => {
      for (const service of ipvs.services())
        if (isOwn(service.protocol, service.address, service.port)) ipvs.removeService(service)
    }),
  )
  await attempt(() => serviceInterface.remove())
  for (const programs of await installedVariants(runProgram, family))
    await attempt(async () => {
      const text = removalText(await programs.save())
      if (text !== '') await programs.restore(text)
    })
  // Rules no longer refer to them.
  const found = allSetNames(family).filter((name) => saved.includes(`create ${name} `))
  const input = found.map((name) => `destroy ${name}\n`).join('')
  if (input !== '') await attempt(async () => void (await runProgram('ipset', ['restore'], input)))
  if (failures.length > 0) throw new Error(`parts of the mode ipvs remain: ${failures.join('; ')}`)
  if (found.length > 0) log(`removed the virtual servers, sets and rules of the mode ipvs for IPv${family}`)
}
