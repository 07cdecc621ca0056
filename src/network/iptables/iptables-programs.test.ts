import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findIptables } from './iptables-programs.ts'

/** Programs by name and their output; others are not installed. */
const runnerOf =
  (outputs: Readonly<Record<string, string>>) =>
  async (program: string, args: readonly string[]): Promise<string> => {
    const output = outputs[[program, ...args].join(' ')]
    if (output === undefined) throw new Error(`spawn ${program} ENOENT`)
    return output
  }

const nft = { 'iptables-nft --version': 'iptables v1.8.9 (nf_tables)\n' }
const legacy = { 'iptables-legacy --version': 'iptables v1.6.1\n' }
const rule = '*filter\n-A INPUT -j DROP\nCOMMIT\n'

describe('the variant of iptables', () => {
  const variantOf = async (outputs: Readonly<Record<string, string>>): Promise<string> =>
    (await findIptables(runnerOf(outputs), 4)).variant

  test('is nft without rules', async () => {
    assert.equal(await variantOf({ ...nft, ...legacy, 'iptables-nft-save': '', 'iptables-legacy-save': '' }), 'nft')
  })

  test('is the one with more rules', async () => {
    assert.equal(
      await variantOf({ ...nft, ...legacy, 'iptables-nft-save': '', 'iptables-legacy-save': rule }),
      'legacy',
    )
  })

  test('is the one that the kubelet marked', async () => {
    const mark = '*mangle\n:KUBE-IPTABLES-HINT - [0:0]\nCOMMIT\n'
    const saved = { 'iptables-nft-save': mark, 'iptables-legacy-save': rule + rule }
    assert.equal(await variantOf({ ...nft, ...legacy, ...saved }), 'nft')
  })

  test('is that of the only program', async () => {
    assert.equal(await variantOf({ 'iptables --version': 'iptables v1.8.9 (legacy)\n' }), 'legacy')
  })

  test('can be chosen, and must be installed', async () => {
    const found = await findIptables(runnerOf({ ...nft, ...legacy }), 4, 'legacy')
    assert.equal(found.variant, 'legacy')
    assert.equal(found.hasRandomFully, false, 'version 1.6.1')
    await assert.rejects(findIptables(runnerOf(nft), 4, 'legacy'), /iptables-legacy is not installed/)
    await assert.rejects(findIptables(runnerOf({}), 6), /ip6tables is not installed/)
  })
})
