/** `t8s config list`: lists contexts with their servers and when their credentials expire. */
import { Command, Option } from 'commander'
import type { ContextOverview } from '../../../tools/config/contexts/overview.ts'
import { type FileFlags, kubeconfigOption, locations, print } from './options.ts'
import { outputText } from './output/output.ts'

interface ListFlags extends FileFlags {
  readonly output?: 'json' | 'yaml' | 'name'
}

/** Credentials that expire within this time are shown in yellow. */
const soonMs = 14 * 86_400_000

export function listCommand(): Command {
  return new Command('list')
    .alias('ls')
    .description('list the contexts: clusters, users, servers, and when certificates and tokens expire')
    .addOption(new Option('-o, --output <FORMAT>', 'machine-readable output').choices(['json', 'yaml', 'name']))
    .addOption(kubeconfigOption())
    .addHelpText(
      'after',
      '\nExamples:\n  t8s config list\n  t8s config list -o name\n  t8s config list -o json | jq -r ".[].server"',
    )
    .action(list)
}

async function list({ output, ...flags }: ListFlags): Promise<void> {
  const { contextOverviews } = await import('../../../tools/config/contexts/overview.ts')
  const { files } = await locations(flags)
  const contexts = await contextOverviews(files)
  if (output === 'name') print(...contexts.map(({ name }) => name))
  else if (output) process.stdout.write(await outputText(contexts, output))
  else if (contexts.length === 0)
    print(`There are no contexts in ${files.join(', ')}: import one with t8s config import.`)
  else await printTable(contexts)
}

async function printTable(contexts: readonly ContextOverview[]): Promise<void> {
  const [{ table }, { earliest, expiryText }, { Ansis }] = await Promise.all([
    import('../../terminal/table.ts'),
    import('./output/expiry-text.ts'),
    import('ansis'),
  ])
  const colour = new Ansis(process.stdout.isTTY ? undefined : 0)
  const now = Date.now()
  const titles = ['CURRENT', 'NAME', 'CLUSTER', 'USER', 'NAMESPACE', 'SERVER', 'EXPIRES']
  const rows = contexts.map((context) => [
    context.current ? '*' : '',
    context.name,
    context.cluster,
    context.user,
    context.namespace,
    context.server,
    context.problems[0] ?? expiryText(context.expires, now),
  ])
  const lines = table(titles, rows, (cell, row, column) => {
    const context = contexts[row]
    if (!context) return cell
    if (context.current && column < 2) return colour.green(cell)
    if (column !== titles.length - 1) return cell
    const ends = earliest(context.expires)?.at ?? Number.POSITIVE_INFINITY
    if (context.problems.length > 0 || ends < now) return colour.red(cell)
    return ends < now + soonMs ? colour.yellow(cell) : cell
  })
  print(...lines)
}
