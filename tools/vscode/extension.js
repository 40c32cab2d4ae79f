// Starts `warpmat debug --dap`, which speaks the Debug Adapter Protocol itself.
const vscode = require("vscode");

const factory = {
  createDebugAdapterDescriptor() {
    const command = vscode.workspace.getConfiguration("warpmat").get("command");
    return new vscode.DebugAdapterExecutable(command, ["debug", "--dap"]);
  },
};

exports.activate = (context) => {
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("warpmat", factory));
};
exports.deactivate = () => {};
