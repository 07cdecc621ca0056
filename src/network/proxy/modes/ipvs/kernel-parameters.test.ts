import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareKernel } from './kernel-parameters.ts'

function prepared(release: string, strictArp = false): { readonly written: string[]; readonly logged: string[] } {
  const [written, logged]: [string[], string[]] = [[], []]
  const settings = {
    read: (name: string) => (/ip_forward|conn_reuse/.test(name) ? '1' : '0'),
    write: (name: string, value: string) => void written.push(`${name}=${value}`),
  }
  prepareKernel(settings, strictArp, release, (line) => logged.push(line))
  return { written, logged }
}

const always = [
  'net/ipv4/vs/conntrack=1',
  'net/ipv4/vs/expire_nodest_conn=1',
  'net/ipv4/vs/expire_quiescent_template=1',
]

test('parameters that differ are set', () => {
  assert.deepEqual(prepared('6.1.0-53-cloud-amd64').written, always)
  assert.deepEqual(prepared('6.1.0', true).written, [
    ...always,
    'net/ipv4/conf/all/arp_ignore=1',
    'net/ipv4/conf/all/arp_announce=2',
  ])
})

test('ports of clients are reused as the version of the kernel allows', () => {
  assert.deepEqual(prepared('5.9.0').written, always)
  assert.deepEqual(prepared('5.8.18').written, [always[0], 'net/ipv4/vs/conn_reuse_mode=0', ...always.slice(1)])
  assert.match(prepared('3.10.0').logged.join(), /older than 4\.1/)
})

test('a parameter that cannot be set is an error with its name', () => {
  const settings = {
    read: () => undefined,
    write: () => {
      throw new Error('ENOENT')
    },
  }
  assert.throws(
    () => prepareKernel(settings, false, '6.1.0', () => {}),
    /needs net\.ipv4\.vs\.conntrack=1, which cannot be set/,
  )
})
