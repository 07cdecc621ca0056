/** The commands of `t8s` by name, in the order of the help. Only the command that is run is loaded. */
import type { Command } from 'commander'

type Load = () => Promise<Command>

const commands: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['up', async () => (await import('./serving/up.ts')).upCommand()],
  ['run', async () => (await import('./serving/run.ts')).runCommand()],
  ['down', async () => (await import('./clusters/down.ts')).downCommand()],
  ['status', async () => (await import('./clusters/status.ts')).statusCommand()],
  ['list', async () => (await import('./clusters/list.ts')).listCommand()],
  ['apiserver', async () => (await import('./serving/apiserver.ts')).apiserverCommand()],
  ['controller-manager', async () => (await import('./serving/controller-manager.ts')).controllerManagerCommand()],
  ['scheduler', async () => (await import('./serving/scheduler.ts')).schedulerCommand()],
  ['kubelet', async () => (await import('./serving/kubelet.ts')).kubeletCommand()],
  ['proxy', async () => (await import('./serving/proxy.ts')).proxyCommand()],
  ['flannel', async () => (await import('./serving/flannel.ts')).flannelCommand()],
  ['network-policy', async () => (await import('./serving/network-policy.ts')).networkPolicyCommand()],
  ['dns', async () => (await import('./serving/dns.ts')).dnsCommand()],
  ['arp', async () => (await import('./arp.ts')).arpCommand()],
  ['cni', async () => (await import('./cni.ts')).cniCommand()],
  ['runtime', async () => (await import('./serving/runtime.ts')).runtimeCommand()],
  ['simulated-nodes', async () => (await import('./serving/simulated-nodes.ts')).simulatedNodesCommand()],
  ['ingress', async () => (await import('./serving/ingress.ts')).ingressCommand()],
  ['join', async () => (await import('./serving/join.ts')).joinCommand()],
  ['leave', async () => (await import('./leave.ts')).leaveCommand()],
  ['token', async () => (await import('./token/index.ts')).tokenCommand()],
  ['port', async () => (await import('./port.ts')).portCommand()],
  ['scale', async () => (await import('./scale.ts')).scaleCommand()],
  ['node', async () => (await import('./node.ts')).nodeCommand()],
  ['why', async () => (await import('../why/index.ts')).whyCommand()],
  ['trace', async () => (await import('./trace/index.ts')).traceCommand()],
  ['config', async () => (await import('./config/index.ts')).configCommand()],
  ['explain-panic', async () => (await import('./explain-panic.ts')).explainPanicCommand()],
  ['image', async () => (await import('./image/index.ts')).imageCommand()],
  ['record', async () => (await import('./record.ts')).recordCommand()],
  ['replay', async () => (await import('./replay.ts')).replayCommand()],
  ['snapshot', async () => (await import('./snapshot.ts')).snapshotCommand()],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand()],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand()],
  ['envtest-assets', async () => (await import('./envtest-assets.ts')).envtestAssetsCommand()],
  ['completion', async () => (await import('./completion.ts')).completionCommand()],
  ['version', async () => (await import('./version.ts')).versionCommand()],
])

/** Loads the command with that name, else all commands, for help, completion and suggestions for typing errors. */
export const commandsFor = (name: string | undefined): Promise<Command[]> => {
  const load = commands.get(name ?? '')
  return Promise.all(load ? [load()] : [...commands.values()].map((load) => load()))
}
