/** The layout of `--help`: readable on a terminal of 80 columns. */
import { Help, type HelpConfiguration } from 'commander'

/** A longer name has a line of its own. Commander breaks no descriptions that have less than 40 columns. */
const maxNameWidth = 28

const standard = Help.prototype

/** Puts descriptions beside short names and below long ones, and breaks them between words. */
export const helpLayout: HelpConfiguration = {
  padWidth(this: Help, command, helper) {
    return Math.min(maxNameWidth, standard.padWidth.call(this, command, helper))
  },
  formatItem(this: Help, name, nameWidth, description, helper) {
    const below = helper.displayWidth(name) > nameWidth && description !== ''
    if (!below) return standard.formatItem.call(this, name, nameWidth, description, helper)
    return `  ${name}\n${standard.formatItem.call(this, '', nameWidth, description, helper)}`
  },
}
