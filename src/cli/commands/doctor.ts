/** `t8s doctor`: examines this machine, and says what to do about problems. */
import { Ansis } from 'ansis'
import { Command, Option } from 'commander'
import type { Finding } from '../../tools/doctor/index.ts'
import { defaultDataDirectory, port } from '../flags/flags.ts'

const help = `
It checks Node, kubectl, the port, the disk, proxies, what a node with containers needs, and what killed clusters have
left. "!" marks what limits clusters or is left over, "x" what prevents them: the exit code is 1 then.`

interface DoctorFlags {
  readonly dataDir: string
  readonly securePort: number
  readonly fix?: boolean
}

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('examine this machine for what clusters need, and for leftovers of killed ones')
    .addOption(new Option('--data-dir <DIR>', 'the data directory of the cluster').default(defaultDataDirectory))
    .addOption(
      new Option('--secure-port <PORT>', 'the port on which the cluster would listen').default(6443).argParser(port),
    )
    .addOption(new Option('--fix', 'remove empty cgroups of clusters that do not run'))
    .addHelpText('after', help)
    .action(async ({ dataDir: dataDirectory, securePort, fix = false }: DoctorFlags) => {
      const { examine } = await import('../../tools/doctor/index.ts')
      // On CI, ansis uses colours without a terminal.
      const colour = new Ansis(process.stdout.isTTY ? undefined : 0)
      let problems = 0
      for await (const finding of examine({ port: securePort, dataDirectory, fix, environment: process.env })) {
        if (finding.severity === 'problem') problems++
        process.stdout.write(findingText(finding, colour))
      }
      process.stdout.write(`\n${conclusion(problems)}\n`)
      if (problems > 0) process.exitCode = 1
    })

function findingText({ severity, text, next }: Finding, colour: Ansis): string {
  const mark = { good: colour.green('ok'), hint: colour.yellow('! '), problem: colour.red('x ') }[severity]
  return `${mark} ${text}\n${next ? `   -> ${next}\n` : ''}`
}

const conclusion = (problems: number): string =>
  problems === 0
    ? 'nothing prevents a cluster: t8s up starts one'
    : `${problems === 1 ? '1 problem prevents' : `${problems} problems prevent`} a cluster: see the lines with x`
