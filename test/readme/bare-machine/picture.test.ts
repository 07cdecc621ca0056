import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pictureOf, themes } from './picture.ts'

const textsOf = (screen: string): (readonly (string | undefined)[])[] =>
  [
    ...pictureOf(screen, { columns: 20, rows: 3 }, themes.dark).matchAll(
      /<text [^>]*x="(\d+)" y="(\d+)"[^>]*fill="([^"]*)"([^>]*)>([^<]*)</g,
    ),
  ].map(([, ...parts]) => parts)

test('a picture has the colours and places of the text', () => {
  assert.deepEqual(textsOf('a \x1b[31mred\x1b[39m b\n\x1b[1;92mok\x1b[0m <&'), [
    ['8', '22', '#d4d4d4', '', 'a '],
    ['26', '22', '#cd3131', '', 'red'],
    ['53', '22', '#d4d4d4', '', ' b'],
    ['8', '40', '#23d18b', ' font-weight="bold"', 'ok'],
    ['26', '40', '#d4d4d4', '', ' &lt;&amp;'],
  ])
})

test('reversed text and backgrounds have a box, and colours of palettes and RGB are known', () => {
  assert.match(pictureOf('\x1b[7mx', { columns: 20, rows: 3 }, themes.light), /height="18" fill="#333333"\/><text /)
  assert.deepEqual(
    textsOf('\x1b[38;5;196ma\x1b[38;5;244mb\x1b[38;2;1;2;3mc\x1b[2md').map(([, , color, more]) => [color, more]),
    [
      ['rgb(255,0,0)', ''],
      ['rgb(128,128,128)', ''],
      ['rgb(1,2,3)', ''],
      ['rgb(1,2,3)', ' opacity="0.6"'],
    ],
  )
})

test('lines after the last row are cut off', () => {
  assert.equal(textsOf('1\n2\n3\n4').length, 3)
})
