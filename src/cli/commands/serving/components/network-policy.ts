/** `t8s network-policy`: network policies for the pods of this machine, a node of any cluster. */
import { Command, Option } from 'commander'
import { policyModes } from '../../../../cluster/policy/policy-mode.ts'
import type { StandalonePolicyOptions } from '../../../../cluster/policy/standalone-policy.ts'
import { type LogFormat, standardLog } from '../../../../lib/log/log.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { stopSignal } from '../../../running/stop-signal.ts'

const examples = `
Examples:
  sudo t8s network-policy --kubeconfig policy.conf       for the pods of this machine
  sudo t8s network-policy --cleanup                      removes its rules
  curl http://127.0.0.1:10261/healthz                    are the policies in effect?

A policy holds as soon as the status of a pod has its address. See docs/network-policies.md.`

interface PolicyFlags extends Omit<StandalonePolicyOptions, 'log'> {
  readonly cleanup: boolean
  readonly loggingFormat?: LogFormat
}

export function networkPolicyCommand(): Command {
  const command = new Command('network-policy')
    .description('bring network policies into effect for the pods of this machine, a node of any cluster')
    .addHelpText('after', examples)
    .action((given: PolicyFlags) => run(given))
  for (const flag of options()) command.addOption(flag)
  return command
}

const options = (): readonly Option[] => [
  new Option(
    '--kubeconfig <FILE>',
    'the cluster and the credentials (default: $KUBECONFIG, else .t8s/kubeconfig in this folder, else the service ' +
      'account of its pod)',
  ),
  new Option('--master <URL>', "the address of the API server; overrides the kubeconfig's"),
  new Option('--hostname-override <NODE>', 'the name of the Node (default: that of this machine)'),
  new Option(
    '--network-policy-mode <MODE>',
    'what has the rules (default: nftables, or iptables where only that works); those of the other one are removed',
  ).choices(policyModes),
  new Option('--healthz-bind-address <ADDRESS>', 'where /healthz is served; empty for none').default('127.0.0.1:10261'),
  new Option('--metrics-bind-address <ADDRESS>', 'where /metrics is served; empty for none').default('127.0.0.1:10262'),
  new Option('--cleanup', 'remove the rules, and end').default(false),
  new Option('--logging-format <FORMAT>', 'format of log lines').choices(['text', 'json']),
]

async function run({ cleanup, loggingFormat, ...given }: PolicyFlags): Promise<void> {
  const stopping = stopSignal()
  const log = standardLog(loggingFormat)
  const { cleanUpPolicies, startStandalonePolicies } = await import('../../../../cluster/policy/standalone-policy.ts')
  if (cleanup) {
    await cleanUpPolicies()
    return
  }
  const policies = await startStandalonePolicies({ ...given, log })
  try {
    void policies.synced.then(() =>
      log(`network policies are in effect for the pods of the node ${policies.node}, by ${policies.mode}`),
    )
    surviveErrors(log)
    tuneAfterStart()
    await stopping.requested
  } finally {
    await policies.stop()
  }
}
