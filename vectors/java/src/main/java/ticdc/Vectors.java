package ticdc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Messages of TiCDC, and what a consumer must read in them. README.md describes the members of a vector. */
public final class Vectors {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Vectors() {}

    /** Returns the vectors of a protocol. {@code binaryValue()} returns the bytes of a key, a value or a file. */
    public static List<JsonNode> load(String protocol) throws IOException {
        try (InputStream lines = open(protocol + ".jsonl");
                var vectors = JSON.readerFor(JsonNode.class).<JsonNode>readValues(lines)) {
            return vectors.readAll();
        }
    }

    /** Returns the numbers of vectors and messages per protocol, and the digests of the files. */
    public static JsonNode manifest() throws IOException {
        try (InputStream text = open("manifest.json")) {
            return JSON.readTree(text);
        }
    }

    private static InputStream open(String name) throws IOException {
        InputStream content = Vectors.class.getResourceAsStream("data/" + name);
        if (content == null) throw new IOException("there is no " + name);
        return content;
    }
}
