/** `t8s config check`: checks that the server of a context responds, and shows its version and your user. */
import { Command, Option } from 'commander'
import { type FileFlags, kubeconfigOption, locations, print, quoted } from '../options.ts'

interface CheckFlags extends FileFlags {
  readonly all?: boolean
}

export function checkCommand(): Command {
  return new Command('check')
    .argument('[NAME]', 'the name of the context (default: the current one)')
    .description('check that a server responds, and show its version and your user; exits with 1 if something is wrong')
    .addOption(new Option('-A, --all', 'all contexts'))
    .addOption(kubeconfigOption())
    .addHelpText(
      'after',
      '\nExamples:\n  t8s config check             the current context\n  t8s config check dev\n  t8s config check -A',
    )
    .action(check)
}

async function check(name: string | undefined, { all = false, ...flags }: CheckFlags): Promise<void> {
  const [{ contextOverview, contextOverviews }, { askServer }] = await Promise.all([
    import('../../../../tools/config/contexts/overview.ts'),
    import('./ask-server.ts'),
  ])
  const { files } = await locations(flags)
  const contexts = all ? await contextOverviews(files) : [await contextOverview(files, name)]
  const answers = await Promise.all(
    contexts.map(async (context) => ({ context, ...(await askServer(files, context)) })),
  )
  for (const { context, ok, lines } of answers) {
    print(
      `${quoted(context.name)} ${ok ? 'works' : 'does not work'} (${context.server || 'no server'})`,
      ...lines.map((line) => `  ${line}`),
    )
  }
  if (!answers.every(({ ok }) => ok)) process.exitCode = 1
}
