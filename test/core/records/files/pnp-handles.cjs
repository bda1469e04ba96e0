// Preloaded into the command line: handles of files are as those of Yarn Plug'n'Play, which lack some methods, and write only text and bytes.
const fs = require("node:fs");

const open = fs.promises.open;
fs.promises.open = async (...args) => {
  const handle = await open(...args);
  const prototype = Object.getPrototypeOf(handle);
  for (const name of ["sync", "datasync", "utimes"])
    prototype[name] = () => {
      throw new Error("Method not implemented.");
    };
  const { writeFile } = prototype;
  prototype.writeFile = function (data, options) {
    if (typeof data !== "string" && !ArrayBuffer.isView(data)) throw new TypeError('The "data" argument must be of type string');
    return writeFile.call(this, data, options);
  };
  fs.promises.open = open;
  return handle;
};
const promisesWriteFile = fs.promises.writeFile;
fs.promises.writeFile = (file, data, options) =>
  typeof file === "object" ? file.writeFile(data, options) : promisesWriteFile(file, data, options);
