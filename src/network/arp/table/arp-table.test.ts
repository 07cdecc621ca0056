import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryText, parseTable, tableNotes } from './arp-table.ts'

const text = `IP address       HW type     Flags       HW address            Mask     Device
192.168.1.103    0x1         0x0         00:00:00:00:00:00     *        veth_c11
192.168.1.101    0x1         0x2         76:cb:15:06:92:87     *        veth_c11
10.0.0.20        0x1         0x6         12:07:6b:be:20:d2     *        veth_c11
10.0.0.9         0x1         0xc         00:00:00:00:00:00     *        veth_c11
192.168.1.7      0x1         0x2         76:cb:15:06:92:87     *        veth_c11
`

test('entries are printed as arp -a prints them, in the order of addresses', () => {
  assert.deepEqual(parseTable(text).map(entryText), [
    '? (10.0.0.9) at <from_interface> PERM PUB on veth_c11',
    '? (10.0.0.20) at 12:07:6b:be:20:d2 [ether] PERM on veth_c11',
    '? (192.168.1.7) at 76:cb:15:06:92:87 [ether] on veth_c11',
    '? (192.168.1.101) at 76:cb:15:06:92:87 [ether] on veth_c11',
    '? (192.168.1.103) at <incomplete> on veth_c11',
  ])
})

test('entries out of the ordinary are explained', () => {
  assert.deepEqual(tableNotes(parseTable(text)), [
    '76:cb:15:06:92:87 on veth_c11 has 192.168.1.7, 192.168.1.101: a host with several addresses, ' +
      'a router with proxy ARP, or ARP spoofing.',
    'This machine answers for 10.0.0.9 on veth_c11: proxy ARP.',
    'No host has answered for 192.168.1.103 on veth_c11: it is down, or in another network.',
  ])
  assert.deepEqual(tableNotes(parseTable(text.split('\n').slice(0, 1).join('\n'))), [])
})
