/** `t8s dns` and its peers in tests: dig asks it, dnsmasq is a server that it forwards to. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { waitFor } from '../support/wait-for.ts'
import { repository } from '../up/t8s-process.ts'

const run = promisify(execFile)

export interface DnsProcess {
  readonly process: ChildProcess
  readonly output: () => string
}

/** Starts it on a port of 127.0.0.1; resolves when it knows the names of the cluster. */
export async function startDns(kubeconfig: string, port: number, ...flags: readonly string[]): Promise<DnsProcess> {
  const args = ['dns', '--kubeconfig', kubeconfig, '--port', String(port), ...flags]
  const child = spawn(`${repository}/t8s`, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  await waitFor(`t8s dns answers: ${output}`, () => output.includes('are known'))
  return { process: child, output: () => output }
}

/** Starts dnsmasq on a port of 127.0.0.1. */
export async function startDnsmasq(port: number, ...flags: readonly string[]): Promise<ChildProcess> {
  const args = [
    '--keep-in-foreground',
    '--local-ttl=60',
    `--port=${port}`,
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
  ]
  const own = ['--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--pid-file=', '--user=root']
  const child = spawn('dnsmasq', [...args, ...own, ...flags], { stdio: ['ignore', 'inherit', 'inherit'] })
  after(() => child.kill('SIGKILL'))
  await waitFor('dnsmasq answers', () =>
    dig(port, 'version.bind', 'TXT', '-c', 'CH').then(({ status }) => status === 'NOERROR'),
  )
  return child
}

export interface DigAnswer {
  /** `NOERROR`, or the error. */
  readonly status: string
  readonly flags: string
  /** `TYPE DATA` of the section of answers, in its order. */
  readonly answers: readonly string[]
  readonly additional: readonly string[]
  readonly authority: readonly string[]
  readonly ttl: number
}

/** Asks a server on 127.0.0.1. Rejects without an answer. */
export async function dig(port: number, name: string, type = 'A', ...flags: readonly string[]): Promise<DigAnswer> {
  const fixed = ['@127.0.0.1', '-p', String(port), '+tries=1', '+time=5', '+nocookie']
  const { stdout } = await run('dig', [...fixed, ...flags, '-t', type, '-q', name])
  const section = (title: string): string[][] => {
    const [, text = ''] = new RegExp(`;; ${title} SECTION:\\n((?:.+\\n)+)`).exec(stdout) ?? []
    return text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(/\s+/))
  }
  const textsOf = (title: string): string[] => section(title).map(([, , , ...rest]) => rest.join(' '))
  const [, status = ''] = /status: (\w+)/.exec(stdout) ?? []
  const [, bits = ''] = /;; flags: ([\w ]+);/.exec(stdout) ?? []
  return {
    status,
    flags: bits,
    answers: textsOf('ANSWER'),
    additional: textsOf('ADDITIONAL'),
    authority: textsOf('AUTHORITY'),
    ttl: Number(section('ANSWER')[0]?.[1] ?? -1),
  }
}
