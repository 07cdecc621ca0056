/** The commands of `t8s` by name, in the order of the help. Only the command that is run is loaded. */
import type { Command } from 'commander'

type Load = () => Promise<Command>

/** The heading of the last group, which has the command `help`, too. */
export const toolsGroup = 'Tools:'

const groups = new Map<string, Readonly<Record<string, Load>>>([
  [
    'Clusters:',
    {
      up: async () => (await import('./serving/up.ts')).upCommand(),
      run: async () => (await import('./serving/run.ts')).runCommand(),
      down: async () => (await import('./clusters/down.ts')).downCommand(),
      status: async () => (await import('./clusters/status.ts')).statusCommand(),
      list: async () => (await import('./clusters/list.ts')).listCommand(),
      scale: async () => (await import('./clusters/scale.ts')).scaleCommand(),
      clock: async () => (await import('./clock/index.ts')).clockCommand(),
      node: async () => (await import('./clusters/node.ts')).nodeCommand(),
      port: async () => (await import('./clusters/port.ts')).portCommand(),
      join: async () => (await import('./serving/join.ts')).joinCommand(),
      leave: async () => (await import('./clusters/leave.ts')).leaveCommand(),
      token: async () => (await import('./token/index.ts')).tokenCommand(),
    },
  ],
  [
    'Explanations:',
    {
      why: async () => (await import('../why/index.ts')).whyCommand(),
      trace: async () => (await import('./trace/index.ts')).traceCommand(),
      arp: async () => (await import('./arp.ts')).arpCommand(),
      'explain-panic': async () => (await import('./explain-panic.ts')).explainPanicCommand(),
      doctor: async () => (await import('./doctor.ts')).doctorCommand(),
    },
  ],
  [
    'Data:',
    {
      snapshot: async () => (await import('./data/snapshot.ts')).snapshotCommand(),
      migrate: async () => (await import('./data/migrate.ts')).migrateCommand(),
      record: async () => (await import('./data/record.ts')).recordCommand(),
      replay: async () => (await import('./data/replay.ts')).replayCommand(),
    },
  ],
  [
    'Single components:',
    {
      apiserver: async () => (await import('./serving/components/apiserver.ts')).apiserverCommand(),
      'controller-manager': async () =>
        (await import('./serving/components/controller-manager.ts')).controllerManagerCommand(),
      scheduler: async () => (await import('./serving/components/scheduler.ts')).schedulerCommand(),
      kubelet: async () => (await import('./serving/components/kubelet.ts')).kubeletCommand(),
      runtime: async () => (await import('./serving/components/runtime.ts')).runtimeCommand(),
      proxy: async () => (await import('./serving/components/proxy.ts')).proxyCommand(),
      'network-policy': async () => (await import('./serving/components/network-policy.ts')).networkPolicyCommand(),
      dns: async () => (await import('./serving/components/dns.ts')).dnsCommand(),
      ingress: async () => (await import('./serving/components/ingress.ts')).ingressCommand(),
      flannel: async () => (await import('./serving/components/flannel.ts')).flannelCommand(),
      cni: async () => (await import('./cni.ts')).cniCommand(),
      'simulated-nodes': async () => (await import('./serving/components/simulated-nodes.ts')).simulatedNodesCommand(),
    },
  ],
  [
    toolsGroup,
    {
      config: async () => (await import('./config/index.ts')).configCommand(),
      image: async () => (await import('./image/index.ts')).imageCommand(),
      'envtest-assets': async () => (await import('./envtest-assets.ts')).envtestAssetsCommand(),
      completion: async () => (await import('./completion.ts')).completionCommand(),
      version: async () => (await import('./version.ts')).versionCommand(),
    },
  ],
])

const loadInGroup =
  (group: string, load: Load): Load =>
  async () =>
    (await load()).helpGroup(group)

const commands: ReadonlyMap<string, Load> = new Map(
  [...groups].flatMap(([group, loads]) =>
    Object.entries(loads).map(([name, load]) => [name, loadInGroup(group, load)] as const),
  ),
)

/** Loads the command with that name, else all commands, for help, completion and suggestions for typing errors. */
export const commandsFor = (name: string | undefined): Promise<Command[]> => {
  const load = commands.get(name ?? '')
  return Promise.all(load ? [load()] : [...commands.values()].map((load) => load()))
}
