/** `t8s config show`: shows the details of a context, without secrets. */
import { Command, Option } from 'commander'
import type { ContextOverview } from '../../../tools/config/contexts/overview.ts'
import { type FileFlags, kubeconfigOption, locations, print } from './options.ts'
import { outputText } from './output/output.ts'

interface ShowFlags extends FileFlags {
  readonly output?: 'json' | 'yaml'
}

export function showCommand(): Command {
  return new Command('show')
    .argument('[NAME]', 'the name of the context (default: the current one)')
    .description('show a context, without keys, tokens and passwords')
    .addOption(new Option('-o, --output <FORMAT>', 'machine-readable output').choices(['json', 'yaml']))
    .addOption(kubeconfigOption())
    .addHelpText(
      'after',
      '\nExamples:\n  t8s config show dev\n  t8s config export dev        everything with secrets, as a kubeconfig',
    )
    .action(show)
}

async function show(name: string | undefined, { output, ...flags }: ShowFlags): Promise<void> {
  const { contextOverview } = await import('../../../tools/config/contexts/overview.ts')
  const context = await contextOverview((await locations(flags)).files, name)
  if (output) {
    process.stdout.write(await outputText(context, output))
    return
  }
  const { relativeTime } = await import('../../../tools/config/contexts/expiry.ts')
  print(...detailLines(context, (time) => `${time} (${relativeTime(Date.parse(time), Date.now())})`))
}

function detailLines(context: ContextOverview, ends: (time: string) => string): string[] {
  const { clientCertificate, token, certificateAuthority } = context.expires
  const details: readonly (readonly [string, string | undefined])[] = [
    ['Name', `${context.name}${context.current ? ' (the current context)' : ''}`],
    ['Cluster', context.cluster],
    ['Server', context.server],
    ['User', context.user],
    ['Credentials', context.credentials],
    ['Namespace', context.namespace || 'default'],
    ['File', context.file],
    ['Certificate until', clientCertificate && ends(clientCertificate)],
    ['Token until', token && ends(token)],
    ['Authority until', certificateAuthority && ends(certificateAuthority)],
    ...context.problems.map((problem) => ['Problem', problem] as const),
  ]
  return details.flatMap(([title, value]) => (value ? [`${`${title}:`.padEnd(20)}${value}`] : []))
}
