/** `t8s arp`: ARP packets as they are sent and received, field by field, and the table of ARP. */
import { createReadStream } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { PodName } from '../../cluster/real-node/pod-network/find-pod-network.ts'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { SystemCallError } from '../../lib/linux/c-library.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { ArpCapture } from '../../network/arp/report/print-capture.ts'
import { stopSignal } from '../running/stop-signal.ts'

const examples = `
Examples:
  sudo t8s arp                              all interfaces of this machine, until Ctrl-C
  sudo t8s arp --interface cni0 --hex       the bytes beside the fields
  sudo t8s arp --netns c1 --count 2         in the network namespace of ip netns, two packets
  sudo t8s arp --pod default/web            in the network of a pod of this node
  sudo t8s arp --pod default/web -a         the table of that pod
  t8s arp --read capture.pcap               packets that tcpdump or Wireshark has written
  t8s arp -a                                the table, as arp -a prints it

Each packet has a sentence about its meaning (RFC 826, RFC 5227). Packets that contradict earlier ones are marked:
  spoofed      a host names itself in the place of another one
  duplicate    two hosts have one address
  changed      an address has moved to another host or interface
  proxy        a router answers for other hosts
  unsolicited  a reply without a question
  in use       a host probes for an address that another one has
Capturing needs root (the capability NET_RAW), and the package koffi.`

interface ArpFlags {
  readonly interface?: string
  readonly hex?: boolean
  readonly count?: number
  readonly table?: boolean
  readonly read?: string
  readonly netns?: string
  readonly pod?: PodName
  readonly containerRuntimeEndpoint?: string
  readonly output: 'text' | 'json'
}

export function arpCommand(): Command {
  return new Command('arp')
    .description('capture and explain ARP packets, or print the table of ARP')
    .addOption(new Option('-i, --interface <NAME>', 'the interface (default: all)'))
    .addOption(new Option('--hex', 'print the bytes beside the fields').conflicts(['table']))
    .addOption(new Option('-c, --count <N>', 'end after N packets').argParser(positive).conflicts(['table']))
    .addOption(new Option('-a, --table', 'print the table of ARP instead of packets'))
    .addOption(
      new Option('-r, --read <FILE>', 'read packets from a pcap or pcapng file').conflicts(['table', 'netns', 'pod']),
    )
    .addOption(new Option('--netns <NAME>', 'the network namespace: a name of ip netns, or a file').conflicts(['pod']))
    .addOption(
      new Option('--pod <NAMESPACE/NAME>', 'the network namespace of a pod that runs on this node').argParser(podName),
    )
    .addOption(
      new Option(
        '--container-runtime-endpoint <URL>',
        'socket of the container runtime that has the pod (default: the runtimes of t8s, containerd and CRI-O)',
      ),
    )
    .addOption(
      new Option('-o, --output <FORMAT>', 'text, or json: an object on each line')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', examples)
    .action((flags: ArpFlags) => (flags.table ? printTable(flags) : capture(flags)))
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be a positive number.')
  return Number(text)
}

function podName(text: string): PodName {
  const [namespace, name, ...others] = text.split('/')
  if (!namespace || !name || others.length > 0)
    throw new InvalidArgumentError('It must be the namespace and the name of a pod, such as default/web.')
  return { namespace, name }
}

async function printTable(flags: ArpFlags): Promise<void> {
  const { interface: name, output } = flags
  const [{ readTable, entryText, tableNotes }, { systemCalls }] = await Promise.all([
    import('../../network/arp/table/arp-table.ts'),
    import('../../lib/linux/system-calls.ts'),
  ])
  const namespace = await namespaceFile(flags)
  const all = explained(() => readTable(systemCalls, namespace))
  const entries = all.filter((entry) => name === undefined || entry.interface === name)
  const lines =
    output === 'json'
      ? entries.map((entry) => JSON.stringify(entry))
      : [...entries.map(entryText), ...tableNotes(entries)]
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

async function capture(flags: ArpFlags): Promise<void> {
  const { interface: name, read, hex, count, output } = flags
  const opened = read === undefined ? await openLive(name, await namespaceFile(flags)) : await openFile(read)
  const { printCapture } = await import('../../network/arp/report/print-capture.ts')
  const write = (text: string): boolean => process.stdout.write(text)
  const printed = printCapture(opened, { write, count, isHex: hex ?? false, isJson: output === 'json' })
  const totals = await printed.catch((error: unknown) => {
    const reason = reasonOf(error)
    throw new ExplainedError(
      read === undefined ? `capturing has ended: ${reason}` : `${read} cannot be read: ${reason}`,
    )
  })
  // Objects are read by programs.
  ;(output === 'json' ? process.stderr : process.stdout).write(totals)
}

/** The file of a namespace of `ip netns`, a file, or that of a pod; undefined for the namespace of this process. */
async function namespaceFile({ netns, pod, containerRuntimeEndpoint }: ArpFlags): Promise<string | undefined> {
  if (pod === undefined && containerRuntimeEndpoint !== undefined)
    throw new ExplainedError('--container-runtime-endpoint finds the pod of --pod: add that, or leave it out')
  if (pod === undefined) return netns === undefined || netns.includes('/') ? netns : `/run/netns/${netns}`
  const { findPodNetwork, thisMachine } = await import('../../cluster/real-node/pod-network/find-pod-network.ts')
  return findPodNetwork(pod, thisMachine(containerRuntimeEndpoint))
}

async function openFile(file: string): Promise<ArpCapture> {
  const { arpFramesOf } = await import('../../network/arp/capture/capture-file.ts')
  return { frames: arpFramesOf(createReadStream(file)), known: [], takeDropped: () => 0, close: () => {} }
}

async function openLive(name: string | undefined, namespace: string | undefined): Promise<ArpCapture> {
  const [{ openLiveCapture }, { systemCalls }] = await Promise.all([
    import('../../network/arp/capture/live-capture.ts'),
    import('../../lib/linux/system-calls.ts'),
  ])
  const ended = new AbortController()
  const opened = explained(() => openLiveCapture({ calls: systemCalls(), interface: name, namespace }, ended.signal))
  void stopSignal().requested.then(() => ended.abort())
  process.stderr.write(`listening on ${name ?? 'all interfaces'}; Ctrl-C ends\n`)
  return opened
}

/** Makes a sentence of the errors that a user can cause. */
function explained<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    const isDenied = error instanceof SystemCallError && (error.code === 'EPERM' || error.code === 'EACCES')
    if (isDenied)
      throw new ExplainedError('capturing and other namespaces need root (NET_RAW and SYS_ADMIN): run this with sudo')
    if (errorCode(error) === 'ENOENT')
      throw new ExplainedError(`there is no such network namespace: see ip netns list (${messageOf(error)})`)
    throw new ExplainedError(messageOf(error))
  }
}
